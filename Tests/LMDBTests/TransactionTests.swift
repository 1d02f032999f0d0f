import LMDB
import Testing

@Suite struct TransactionTests {
    private struct Abandoned: Error {}

    private let directory: TemporaryDirectory
    private let environment: Environment
    private let table: Table

    init() throws {
        directory = try TemporaryDirectory()
        environment = try Environment(
            path: directory.path,
            options: Environment.Options(mapSize: 1 << 24)
        )
        table = try #require(try environment.table("numbers", create: true))
    }

    @Test func `what was put is got, until it is deleted`() throws {
        try environment.write { transaction in
            try transaction.put(table, Key(7), [1, 2, 3].span)
            try transaction.put(table, Key(8), [UInt8]().span)
            try transaction.put(table, Key(7), [4].span)
        }
        try environment.read { transaction in
            expectEqual(try transaction.get(table, Key(7)) { copy($0) }, [4])
            expectEqual(try transaction.get(table, Key(8)) { $0.count }, 0)
            expectEqual(try transaction.get(table, Key(9)) { $0.count }, nil)
            expectEqual(try transaction.contains(table, Key(7)), true)
            expectEqual(try transaction.contains(table, Key(9)), false)
            expectEqual(try transaction.count(table), 2)
        }
        try environment.write { transaction in
            expectEqual(try transaction.delete(table, Key(7)), true)
            expectEqual(try transaction.delete(table, Key(7)), false)
            expectEqual(try transaction.count(table), 1)
            try transaction.clear(table)
            expectEqual(try transaction.count(table), 0)
        }
    }

    @Test func `an append goes behind the last key only`() throws {
        try environment.write { transaction in
            try transaction.append(table, Key(1), [1].span)
            try transaction.append(table, Key(2), [2].span)
            do throws(LMDBError) {
                try transaction.append(table, Key(2), [3].span)
                Issue.record("the second append is accepted")
            } catch {
                expectEqual(error.operation, "mdb_put")
            }
        }
        #expect(try environment.read { try $0.count(table) } == 2)
    }

    @Test func `a reserved value is filled in place`() throws {
        try environment.write { transaction in
            try transaction.reserve(table, Key(5), count: 10_000, appending: true) { value in
                #expect(value.count == 10_000)
                for position in value.indices { value[position] = UInt8(position & 0xff) }
            }
        }
        let isEqual = try environment.read { transaction in
            try transaction.get(table, Key(5)) { value in
                value.indices.allSatisfy { value[$0] == UInt8($0 & 0xff) } && value.count == 10_000
            }
        }
        #expect(isEqual == true)
    }

    @Test func `a reserved value that was not filled is not committed`() throws {
        #expect(throws: LMDBError.self) {
            try environment.write { transaction in
                do {
                    try transaction.reserve(table, Key(5), count: 8, appending: false) { _ in
                        throw Abandoned()
                    }
                } catch is Abandoned {
                    // Swallowed on purpose: the commit has to notice.
                }
            }
        }
        #expect(try environment.read { try !$0.contains(table, Key(5)) })
    }

    @Test func `a write that throws leaves nothing`() throws {
        #expect(throws: Abandoned.self) {
            try environment.write { transaction in
                try transaction.put(table, Key(1), [1].span)
                throw Abandoned()
            }
        }
        #expect(try environment.read { try $0.count(table) } == 0)
        try environment.write { try $0.put(table, Key(2), [2].span) }
        #expect(try environment.read { try $0.contains(table, Key(2)) })
    }

    @Test func `a read keeps its snapshot while others write`() throws {
        try environment.write { try $0.put(table, Key(1), [1].span) }
        try environment.read { before in
            try environment.write { try $0.put(table, Key(1), [2].span) }
            expectEqual(try before.get(table, Key(1)) { copy($0) }, [1])
            try environment.read { after in
                expectEqual(try after.get(table, Key(1)) { copy($0) }, [2])
            }
        }
    }

    @Test func `changing while bytes are lent stops the process`() async throws {
        let other = try TemporaryDirectory()
        await #expect(processExitsWith: .failure) { [path = other.path as String] in
            try changeWhileLent(path)
        }
    }
}

private func changeWhileLent(_ path: String) throws {
    let environment = try Environment(
        path: path,
        options: Environment.Options(mapSize: 1 << 24)
    )
    let table = try #require(try environment.table("numbers", create: true))
    try environment.write { transaction in
        try transaction.put(table, Key(1), [1].span)
        try transaction.scan(table, from: nil) { _, _ in
            try transaction.put(table, Key(2), [2].span)
            return true
        }
    }
}

func copy(_ span: Span<UInt8>) -> [UInt8] {
    span.indices.map { span[$0] }
}
