import LMDB
import Testing

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// What a reader looks at is not used again; one that was killed looks at nothing.
@Suite struct DeadReaderTests {
    private let directory: TemporaryDirectory
    private let environment: Environment
    private let table: Table
    private let value = [UInt8](repeating: 7, count: 100_000)

    init() throws {
        directory = try TemporaryDirectory()
        environment = try Environment(
            path: directory.path,
            options: Environment.Options(mapSize: 1 << 26)
        )
        table = try #require(try environment.table("values", create: true))
    }

    /// Replaces the same value so many times.
    private func commit(_ count: Int) throws {
        for _ in 0..<count { try environment.write { try $0.put(table, Key(1), value.span) } }
    }

    @Test func `the pages of one that was killed are used again, while a writer goes on`()
        async throws
    {
        let path = directory.path
        try commit(3)
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
            try endWithinRead(path)
        }
        try commit(1)
        #expect(environment.statistics.oldestReaderCommits == 1, "the control: its slot is taken")
        try commit(200)
        #expect(environment.statistics.oldestReaderCommits == 0)
        #expect(environment.usedByteCount < 4 << 20)
        environment.close()
    }
}

/// What the other process does.
private func endWithinRead(_ path: String) throws {
    let environment = try Environment(
        path: path,
        options: Environment.Options(mapSize: 1 << 26, isReadOnly: true)
    )
    _ = try environment.read { _ in kill(getpid(), SIGKILL) }
}
