import EntitlementLedger
import Entitlements
import EventLog
import LMDB
import Testing

@testable import LMDBStorage

/// Events are lent in parts, so that who waits with one keeps no snapshot of the log.
struct `Events that are lent` {
    /// More than one part holds.
    private static let count = 300

    private static func with(_ body: (ScratchLedger) throws -> Void) async throws {
        try await ScratchLedger.with { scratch in
            let lines = (0..<count).flatMap { number in
                ["ann", "bob"].map { Sample.grantLine("\($0)-\(number)", to: $0) }
            }
            _ = try scratch.ledger.appender.record(Sample.submissions(lines))
            try body(scratch)
        }
    }

    @Test func `are each one once, in their order`() async throws {
        try await Self.with { scratch in
            var filter = EventFilter(sequences: 0..<UInt64.max)
            let size = try scratch.ledger.questions.size()
            #expect(size == 2 * UInt64(Self.count))
            #expect(try scratch.sequences(filter) == Array(0..<size))
            filter.customer = CustomerID("ann")
            let own = try scratch.sequences(filter)
            #expect(own.count == Self.count && own == own.sorted())
            filter.sequences = own[10]..<own[290]
            #expect(try scratch.sequences(filter) == Array(own[10..<290]))
        }
    }

    @Test func `are those that stood at the beginning, and hold no snapshot`() async throws {
        try await Self.with { scratch in
            let log = scratch.directory.log
            func isHeld() throws -> Bool {
                try log.withEnvironment { $0.environment.isInTransaction }
            }
            let size = try scratch.ledger.questions.size()
            var lent: UInt64 = 0
            try scratch.ledger.questions.events(EventFilter(sequences: 0..<UInt64.max)) { _, _ in
                lent += 1
                let held = try isHeld()
                #expect(!held)
                if lent == 10 {
                    let line = Sample.grantLine("late", to: "ann")
                    _ = try scratch.ledger.appender.record(Sample.submissions([line]))
                }
                return true
            }
            #expect(lent == size)
            // The control: who reads the log holds one.
            try log.readBlocks(from: 0, upTo: 1) { _, _ in
                let held = try isHeld()
                #expect(held)
                return true
            }
        }
    }
}
