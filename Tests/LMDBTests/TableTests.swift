import Foundation
import LMDB
import Synchronization
import Testing

/// LMDB gives a table the handle that was free when the transaction began which opens it.
@Suite struct TableTests {
    private static let threadCount = 4
    private let directory: TemporaryDirectory

    /// A table for each thread, which holds the thread's number.
    init() throws {
        directory = try TemporaryDirectory()
        let environment = try open(isReadOnly: false)
        defer { environment.close() }
        for thread in 0..<Self.threadCount {
            let table = try #require(try environment.table(Self.name(thread), create: true))
            try environment.write { try $0.put(table, Key(1), [UInt8(thread)].span) }
        }
    }

    private static func name(_ thread: Int) -> String { "table \(thread)" }

    private func open(isReadOnly: Bool) throws -> Environment {
        try Environment(
            path: directory.path,
            options: Environment.Options(
                mapSize: 1 << 24,
                maximumTables: 64,
                isReadOnly: isReadOnly
            )
        )
    }

    /// Runs a body on threads that begin at the same moment; what it returns stands in their order.
    private static func atOnce<Value: Sendable>(
        _ body: @escaping @Sendable (_ thread: Int) throws -> Value
    ) throws -> [Value] {
        let count = threadCount
        let begun = Atomic<Int>(0)
        let results = Mutex<[Result<Value, any Error>?]>(Array(repeating: nil, count: count))
        let group = DispatchGroup()
        for thread in 0..<count {
            group.enter()
            Thread.detachNewThread {
                begun.add(1, ordering: .sequentiallyConsistent)
                while begun.load(ordering: .sequentiallyConsistent) < count { sched_yield() }
                let result = Result { try body(thread) }
                results.withLock { $0[thread] = result }
                group.leave()
            }
        }
        group.wait()
        return try results.withLock { try $0.compactMap(\.self).map { try $0.get() } }
    }

    // As an audit in parts does that only reads. One round alone would seldom tell.
    @Test func `tables that are opened at the same moment are told apart`() throws {
        for _ in 0..<500 {
            let environment = try open(isReadOnly: true)
            defer { environment.close() }
            let values = try Self.atOnce { thread -> UInt8? in
                guard let table = try environment.table(Self.name(thread), create: false) else {
                    return nil
                }
                return try environment.read { try $0.get(table, Key(1)) { $0[0] } }
            }
            let expected = (0..<Self.threadCount).map { UInt8($0) }
            try #require(values.compactMap(\.self) == expected)
        }
    }

    // Whoever opens one waits for the commit that makes another.
    @Test func `a table is told apart from those that are made meanwhile`() throws {
        for round in 0..<10 {
            let environment = try open(isReadOnly: false)
            defer { environment.close() }
            let tables = try Self.atOnce { thread in
                let isMade = thread.isMultiple(of: 2)
                return try environment.table(
                    isMade ? "made \(round) \(thread)" : Self.name(thread),
                    create: isMade
                )
            }
            try #require(Set(tables.compactMap(\.self)).count == Self.threadCount)
        }
    }
}
