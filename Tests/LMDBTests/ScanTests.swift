import LMDB
import Testing

/// Even numbers 0 to 98 stand in the table.
@Suite struct ScanTests {
    private let directory: TemporaryDirectory
    private let environment: Environment
    private let table: Table
    private let empty: Table

    init() throws {
        directory = try TemporaryDirectory()
        environment = try Environment(
            path: directory.path,
            options: Environment.Options(mapSize: 1 << 24)
        )
        let table = try #require(try environment.table("even", create: true))
        self.table = table
        empty = try #require(try environment.table("empty", create: true))
        try environment.write { transaction in
            for number in stride(from: UInt64(0), to: 100, by: 2) {
                try transaction.append(table, Key(number), [UInt8(number)].span)
            }
        }
    }

    @Test(
        arguments: [
            (nil, 0), (0, 0), (1, 2), (2, 2), (97, 98), (98, 98), (99, nil),
        ] as [(UInt64?, UInt64?)]
    )
    func `a scan begins at the first key not before its start`(
        start: UInt64?,
        first: UInt64?
    ) throws {
        let expected = first.map { Array(stride(from: $0, to: 100, by: 2)) } ?? []
        #expect(try ascending(from: start) == expected)
    }

    @Test(
        arguments: [
            (nil, 98), (0, 0), (1, 0), (2, 2), (97, 96), (98, 98), (99, 98), (.max, 98),
        ] as [(UInt64?, UInt64)]
    )
    func `a backward scan begins at the last key not after its start`(
        start: UInt64?,
        last: UInt64
    ) throws {
        let expected = Array(stride(from: Int(last), through: 0, by: -2)).map { UInt64($0) }
        #expect(try descending(from: start) == expected)
    }

    @Test func `a backward scan from before the first key finds nothing`() throws {
        try environment.write { _ = try $0.delete(table, Key(0)) }
        #expect(try descending(from: 1) == [])
    }

    @Test func `a scan stops when it is told to`() throws {
        #expect(try ascending(from: 10, limit: 3) == [10, 12, 14])
        #expect(try descending(from: 10, limit: 3) == [10, 8, 6])
    }

    @Test func `first and last are the ends`() throws {
        try environment.read { transaction in
            expectEqual(
                try transaction.first(table) { key, _ in key.loadUInt64BigEndian(at: 0) },
                0
            )
            expectEqual(try transaction.last(table) { _, value in value[0] }, 98)
            expectEqual(try transaction.first(empty) { _, _ in 0 }, nil)
            expectEqual(try transaction.last(empty) { _, _ in 0 }, nil)
        }
    }

    @Test func `a write transaction scans what it has just written`() throws {
        try environment.write { transaction in
            try transaction.put(table, Key(1), [1].span)
            expectEqual(try lowest(transaction, 3), [0, 1, 2])
        }
    }

    private func lowest(
        _ transaction: borrowing some ReadableTransaction & ~Copyable,
        _ limit: Int
    ) throws -> [UInt64] {
        var found: [UInt64] = []
        try transaction.scan(table, from: nil) { key, _ in
            found.append(key.loadUInt64BigEndian(at: 0))
            return found.count < limit
        }
        return found
    }

    private func ascending(from start: UInt64?, limit: Int = .max) throws -> [UInt64] {
        var found: [UInt64] = []
        try environment.read { transaction in
            try transaction.scan(table, from: start.map { Key($0) }) { key, value in
                #expect(value[0] == UInt8(key.loadUInt64BigEndian(at: 0)))
                found.append(key.loadUInt64BigEndian(at: 0))
                return found.count < limit
            }
        }
        return found
    }

    private func descending(from start: UInt64?, limit: Int = .max) throws -> [UInt64] {
        var found: [UInt64] = []
        try environment.read { transaction in
            try transaction.scanBackward(table, from: start.map { Key($0) }) { key, value in
                found.append(key.loadUInt64BigEndian(at: 0))
                return found.count < limit
            }
        }
        return found
    }
}
