import Entitlements
import EventLog
import Synchronization
import Testing

@testable import EntitlementLedger

/// What the pipeline does where something comes between a decision and its append.
struct `The pipeline` {
    /// Decides that its names lead elsewhere by now, so often.
    private final class Contended: Proposal {
        private let left: Mutex<Int>

        init(_ times: Int) { left = Mutex(times) }

        func signal(in pipeline: Pipeline) -> SignalDigest { SignalDigest(high: 1, low: 2) }

        func decision(
            in pipeline: Pipeline,
            as signal: SignalDigest,
            after earlier: UInt64?
        ) throws -> Decision<Bool> {
            let isContended = left.withLock { left in
                defer { left -= 1 }
                return left > 0
            }
            guard !isContended else { throw LedgerFault(.contended, "somebody was erased") }
            return .settled(true)
        }
    }

    // C6: an erasure that comes between is nothing that a caller is told
    @Test func `decides again where an erasure came between`() async throws {
        try await ScratchLedger.with { scratch in
            let pipeline = try scratch.ledger.appender.pipeline
            #expect(try pipeline.record(Contended(1)))
            // The control: it does not try for ever.
            #expect { try pipeline.record(Contended(3)) } throws: { error in
                (error as? LedgerFault)?.code == .contended
            }
        }
    }

    // E1: of what is handed in with it every event's id counts, not the first alone
    @Test(arguments: [false, true])
    func `records nothing behind another content under a later id of the batch`(
        _ isBefore: Bool
    ) async throws {
        try await ScratchLedger.with { scratch in
            func draft(_ id: String) throws -> EventDraft {
                try Sample.event(id, "sync.completed", "store/app_store").draft
            }
            let first = Submission(
                id: "x",
                source: "support",
                environment: .production,
                nature: .request,
                drafts: [try draft("x"), try draft("x")]
            )
            let other = Submission(
                event: try Sample.event(
                    "x#2",
                    "sync.completed",
                    "store/app_store",
                    time: Sample.day(3)
                )
            )
            let next = try Sample.event("y", "sync.completed", "store/app_store")
            let receipts = try scratch.ledger.appender.recordUntilRefused(
                (isBefore ? [other, first] : [first, other]) + [Submission(event: next)]
            )
            let count = isBefore ? 1 : 2
            #expect(receipts.count == 2)
            #expect(receipts[0] == .appended(first: 0, count: count))
            #expect(try scratch.ledger.questions.size() == UInt64(count))
        }
    }
}
