import Encodings
import EntitlementLedger
import Entitlements
import LedgerAPI
import Testing

/// Law 2 and T3: recorded time never goes back.
struct `Recorded time` {
    private static func submission(_ id: String) throws -> Submission {
        Submission(event: try Sample.event(id, "sync.completed", "store/app_store"))
    }

    // law 2, T3
    @Test func `stands still while the clock is set back a little`() async throws {
        try await ScratchLedger.with { scratch in
            let start = scratch.clock.now
            var expected: [Instant] = []
            for (index, offset) in [0, 5_000, 1_000, -200_000, 4_999, 6_000].enumerated() {
                scratch.clock.now = start.advanced(byMilliseconds: Int64(offset))
                _ = try scratch.ledger.appender.record(try Self.submission("e\(index)"))
                expected.append(max(scratch.clock.now, expected.last ?? scratch.clock.now))
            }
            let recorded = try (0..<6).map {
                try scratch.ledger.questions.event(at: UInt64($0))?.recordedAt
            }
            #expect(recorded == expected)
            #expect(try scratch.ledger.auditor.audit().isOK)
        }
    }

    // T3: more than five minutes ahead: try again later
    @Test func `makes appends wait if it lies too far ahead of the clock`() async throws {
        try await ScratchLedger.with { scratch in
            let start = scratch.clock.now
            _ = try scratch.ledger.appender.record(try Self.submission("e0"))
            scratch.clock.now = start.advanced(byMilliseconds: -300_000)
            #expect(
                try scratch.ledger.appender.record(Self.submission("e1"))
                    == .appended(first: 1, count: 1)
            )
            scratch.clock.now = start.advanced(byMilliseconds: -300_001)
            #expect { try scratch.ledger.appender.record(Self.submission("e2")) } throws: { error in
                (error as? LedgerFault)?.code == .clockBehind
            }
            try scratch.reopen()
            #expect { try scratch.ledger.appender.record(Self.submission("e2")) } throws: { error in
                (error as? LedgerFault)?.code == .clockBehind
            }
            #expect(try scratch.ledger.questions.size() == 2)
            // It is read all the same, and written again once the clock has caught up.
            _ = try scratch.show("ann")
            scratch.clock.now = start
            #expect(
                try scratch.ledger.appender.record(Self.submission("e2"))
                    == .appended(first: 2, count: 1)
            )
        }
    }

    // T3: an imported recorded time
    @Test func `is kept if it lies between the log's last and the clock`() async throws {
        try await ScratchLedger.with { scratch in
            let now = scratch.clock.now
            func record(_ id: String, _ offset: Int64) throws -> Receipt {
                try scratch.ledger.appender.record(
                    [Self.submission(id)],
                    recordedAt: [now.advanced(byMilliseconds: offset)]
                )[0]
            }
            #expect(try record("e0", -1000) == .appended(first: 0, count: 1))
            #expect(try record("e1", -1000) == .appended(first: 1, count: 1))
            for (id, offset) in [("e2", Int64(-1001)), ("e3", 1)] {
                guard case .refused(let refusal) = try record(id, offset) else {
                    Issue.record("\(offset) is accepted")
                    continue
                }
                #expect(refusal.code == .recordedTime)
                #expect(refusal.path == "recordedtime")
            }
            #expect(try record("e4", 0) == .appended(first: 2, count: 1))
            #expect(
                try scratch.ledger.questions.event(at: 1)?.recordedAt
                    == now.advanced(byMilliseconds: -1000)
            )
        }
    }

    // T3: one for all events of a submission
    @Test func `is one for all events of a submission`() async throws {
        try await ScratchLedger.with { scratch in
            let signal = try RevenueCatBody.submission(
                id: "s",
                user: "ann",
                expiration: 1_799_904_000_000
            )
            guard case .appended(_, let count) = try scratch.ledger.appender.record(signal) else {
                Issue.record("it is not appended")
                return
            }
            #expect(count > 1, "there are several")
            let times = try (0..<count).map {
                try scratch.ledger.questions.event(at: UInt64($0))?.recordedAt
            }
            #expect(Set(times) == [scratch.clock.now])
        }
    }

    // T3: an import that stops at a refusal records nothing behind it
    @Test func `stops an import at the first that cannot be kept`() async throws {
        try await ScratchLedger.with { scratch in
            let now = scratch.clock.now
            for (round, offset) in [-2000, 1].map(Int64.init).enumerated() {
                let ids = ["a", "b", "c"].map { $0 + String(round) }
                let receipts = try scratch.ledger.appender.recordUntilRefused(
                    ids.map { try Self.submission($0) },
                    recordedAt: [-1000, offset, 0].map { now.advanced(byMilliseconds: $0) }
                )
                #expect(receipts.count == 2)
                #expect(receipts[0] == .appended(first: UInt64(round), count: 1))
                #expect(try scratch.ledger.questions.size() == UInt64(round + 1))
            }
        }
    }
}
