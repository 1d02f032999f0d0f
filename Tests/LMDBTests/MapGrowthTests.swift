import LMDB
import Testing

@Suite struct MapGrowthTests {
    private let directory: TemporaryDirectory
    private let value = [UInt8](repeating: 7, count: 1000)

    init() throws {
        directory = try TemporaryDirectory()
    }

    private func open() throws -> (Environment, Table) {
        let environment = try Environment(
            path: directory.path,
            options: Environment.Options(mapSize: 1 << 18)
        )
        let table = try environment.table("t", create: true)
        return (environment, try #require(table))
    }

    private func fill(_ transaction: borrowing WriteTransaction, _ table: Table) throws {
        for number in 0..<1000 {
            try transaction.put(table, Key(UInt64(number)), value.span)
        }
    }

    // The negative control
    @Test func `a full map refuses what does not fit`() throws {
        let (environment, table) = try open()
        let error = #expect(throws: LMDBError.self) {
            try environment.write { try fill($0, table) }
        }
        #expect(error?.kind == .mapFull)
        environment.close()
    }

    @Test func `a map that may grow holds it, once`() throws {
        let (environment, table) = try open()
        try environment.write(growingBy: 1 << 22) { try fill($0, table) }
        var count = 0
        try environment.read { transaction in
            try transaction.scan(table, from: nil) { _, _ in
                count += 1
                return true
            }
        }
        #expect(count == 1000)
        environment.close()
    }

    @Test func `a map for which there is no address space stays as it is, and grows later`() throws
    {
        let (environment, table) = try open()
        let size = environment.statistics.mapSize
        let error = #expect(throws: LMDBError.self) {
            try environment.write(growingBy: 1 << 60) { try fill($0, table) }
        }
        #expect(error?.kind == .mapFull)
        #expect(environment.statistics.mapSize == size)
        // Reading and small writes go on meanwhile.
        try environment.write { try $0.put(table, Key(1), value.span) }
        let read: Void? = try environment.read { try $0.get(table, Key(1)) { _ in } }
        #expect(read != nil)
        try environment.write(growingBy: 1 << 22) { try fill($0, table) }
        environment.close()
    }
}
