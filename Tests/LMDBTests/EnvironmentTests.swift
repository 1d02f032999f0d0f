import LMDB
import Testing

@Suite struct EnvironmentTests {
    private let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    private func open(
        mapSize: Int = 1 << 24,
        isReadOnly: Bool = false
    ) throws(LMDBError) -> Environment {
        try Environment(
            path: directory.path,
            options: Environment.Options(mapSize: mapSize, isReadOnly: isReadOnly)
        )
    }

    @Test func `the same directory is not opened twice`() throws {
        let environment = try open()
        for path in [directory.path, directory.path + "/.", directory.path + "/"] {
            let error = #expect(throws: LMDBError.self) {
                _ = try Environment(path: path, options: Environment.Options(mapSize: 1 << 24))
            }
            #expect(error?.kind == .alreadyOpen)
        }
        environment.close()
        environment.close()
        try open().close()
    }

    @Test func `a closed environment refuses transactions`() throws {
        let environment = try open()
        environment.close()
        #expect(throws: LMDBError.self) { try environment.read { _ in } }
        #expect(environment.statistics.mapSize == 0)
    }

    @Test func `a missing directory or data file is not found`() throws {
        let missing = #expect(throws: LMDBError.self) {
            _ = try Environment(
                path: directory.file("missing"),
                options: Environment.Options(mapSize: 1 << 24)
            )
        }
        #expect(missing?.kind == .notFound)
        let empty = #expect(throws: LMDBError.self) { _ = try open(isReadOnly: true) }
        #expect(empty?.kind == .notFound)
    }

    @Test func `a file of something else is invalid`() throws {
        try write([UInt8](repeating: 0x41, count: 8192), to: directory.file("data.mdb"))
        let error = #expect(throws: LMDBError.self) { _ = try open() }
        #expect(error?.kind == .invalid)
    }

    @Test func `a table that nobody made does not exist`() throws {
        let environment = try open()
        #expect(try environment.table("a", create: false) == nil)
        let made = try #require(try environment.table("a", create: true))
        #expect(try environment.table("a", create: false) == made)
        environment.close()

        let reading = try open(isReadOnly: true)
        let found = try #require(try reading.table("a", create: false))
        #expect(try reading.read { try $0.count(found) } == 0)
        let error = #expect(throws: LMDBError.self) { try reading.write { _ in } }
        #expect(error?.kind == .notPermitted)
    }

    @Test func `a full map grows and goes on`() throws {
        let environment = try open(mapSize: 1 << 18)
        let table = try #require(try environment.table("a", create: true))
        let value = [UInt8](repeating: 1, count: 1 << 19)
        let error = #expect(throws: LMDBError.self) {
            try environment.write { try $0.put(table, Key(1), value.span) }
        }
        #expect(error?.kind == .mapFull)
        try environment.grow(toMapSize: 1 << 22)
        #expect(environment.statistics.mapSize == 1 << 22)
        try environment.write { try $0.put(table, Key(1), value.span) }
        #expect(try environment.read { try $0.get(table, Key(1)) { $0.count } } == 1 << 19)
    }

    @Test func `growing within a transaction is refused`() throws {
        let environment = try open()
        _ = try environment.read { _ in
            #expect(throws: LMDBError.self) { try environment.grow(toMapSize: 1 << 25) }
        }
    }

    @Test func `growing waits for readers and lets nested reads pass`() async throws {
        let (environment, table) = try openWithOneEntry()
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<3 {
                group.addTask { readNested(environment, table, rounds: 2000) }
            }
            group.addTask {
                for step in 1...20 {
                    #expect(throws: Never.self) {
                        try environment.grow(toMapSize: (1 << 24) + step << 20)
                    }
                }
            }
        }
        #expect(environment.statistics.mapSize == (1 << 24) + 20 << 20)
    }

    @Test func `readers of several threads share a few slots`() async throws {
        let (environment, table) = try openWithOneEntry()
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                group.addTask { readNested(environment, table, rounds: 1000) }
            }
        }
        let inUse = environment.statistics.readersInUse
        #expect(inUse >= 1)
        #expect(inUse <= 16)
    }

    // What a reader holds on to shows, and ends with it.
    @Test func `a reader of an old state is told of by the commits since`() throws {
        let (environment, table) = try openWithOneEntry()
        func commit(_ count: UInt64) throws {
            for number in 0..<count {
                try environment.write { try $0.put(table, Key(number), [1].span) }
            }
        }
        try commit(3)
        #expect(environment.statistics.oldestReaderCommits == 0)
        try environment.read { _ in
            try commit(5)
            #expect(environment.statistics.oldestReaderCommits == 5)
        }
        #expect(environment.statistics.oldestReaderCommits == 0)
    }

    @Test func `the data file is extended and never shortened`() throws {
        let environment = try open()
        let table = try #require(try environment.table("a", create: true))
        try environment.preextend(toBytes: 1 << 22)
        #expect(try size(of: directory.file("data.mdb")) == 1 << 22)
        try environment.preextend(toBytes: 1 << 20)
        #expect(try size(of: directory.file("data.mdb")) == 1 << 22)
        try environment.write { try $0.put(table, Key(1), [1].span) }
        try environment.sync()
        #expect(try environment.read { try $0.contains(table, Key(1)) })
    }

    @Test func `what the data file has too much is cut off, and no page that is used`() throws {
        let environment = try open()
        let table = try #require(try environment.table("a", create: true))
        let value = [UInt8](repeating: 7, count: 100_000)
        try environment.preextend(toBytes: 1 << 22)
        try environment.write { try $0.put(table, Key(1), value.span) }
        let used = environment.usedByteCount
        #expect(used > value.count)
        for _ in 0..<2 {
            try environment.trim()
            #expect(try size(of: directory.file("data.mdb")) == used)
            let isWhole = try environment.read { transaction in
                try transaction.get(table, Key(1)) { $0.count == value.count && $0[99_999] == 7 }
            }
            #expect(isWhole == true)
        }
        try environment.write { try $0.put(table, Key(2), value.span) }
        #expect(environment.usedByteCount > used)
        #expect(try environment.read { try $0.contains(table, Key(2)) })
    }

    @Test func `a copy holds what was committed`() throws {
        let environment = try open()
        let table = try #require(try environment.table("a", create: true))
        try environment.write { try $0.put(table, Key(1), [1].span) }
        let target = try TemporaryDirectory()
        try environment.copy(to: target.path)
        let copied = try Environment(
            path: target.path,
            options: Environment.Options(mapSize: 1 << 24)
        )
        let copiedTable = try #require(try copied.table("a", create: false))
        #expect(try copied.read { try $0.contains(copiedTable, Key(1)) })
        #expect(throws: LMDBError.self) { try environment.copy(to: target.path) }
    }

    @Test func `a map that another process enlarged is adopted`() async throws {
        let path = directory.path
        let (environment, table) = try openWithOneEntry(mapSize: 1 << 20)
        await #expect(processExitsWith: .success) { [path = path as String] in
            try enlarge(path)
        }
        let count = try readCount(environment, table, Key(2))
        #expect(count == 1 << 22)
        #expect(environment.statistics.mapSize == 1 << 24)
    }

    private func openWithOneEntry(mapSize: Int = 1 << 24) throws -> (Environment, Table) {
        let environment = try open(mapSize: mapSize)
        let table = try #require(try environment.table("a", create: true))
        try environment.write { try $0.put(table, Key(1), [1].span) }
        return (environment, table)
    }

    private func readCount(
        _ environment: Environment,
        _ table: Table,
        _ key: Key
    ) throws -> Int? {
        try environment.read { try $0.get(table, key) { $0.count } }
    }
}

private func readNested(_ environment: Environment, _ table: Table, rounds: Int) {
    for _ in 0..<rounds {
        #expect(throws: Never.self) {
            try environment.read { outer in
                expectEqual(try outer.contains(table, Key(1)), true)
                try environment.read { inner in
                    expectEqual(try inner.contains(table, Key(1)), true)
                }
            }
        }
    }
}

/// What the other process does.
private func enlarge(_ path: String) throws {
    let environment = try Environment(
        path: path,
        options: Environment.Options(mapSize: 1 << 24)
    )
    let table = try #require(try environment.table("a", create: false))
    let value = [UInt8](repeating: 2, count: 1 << 22)
    try environment.write { try $0.put(table, Key(2), value.span) }
    environment.close()
}
