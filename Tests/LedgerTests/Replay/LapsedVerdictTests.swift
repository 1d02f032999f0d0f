import Entitlements
import LedgerAPI
import Testing

@testable import EntitlementLedger

/// What is recorded where evidence no longer verifies (Stores, rule 5).
struct `A verdict that lapsed` {
    // P7: the last verdict counts, also where it stands at a time to come.
    @Test(arguments: [-1, 4]) func `is failed behind it, and once`(_ days: Int64) async throws {
        try await ScratchLedger.with { scratch in
            let now = scratch.clock.now
            let time = now.advanced(byMilliseconds: days * Instant.millisecondsPerDay)
            let verdict = Sample.line(
                "verdict",
                "verification.passed",
                "purchase/app_store/1",
                data: #"{"method":"store_api"}"#,
                time: time
            )
            let lines = [Sample.purchaseLine("buy", "app_store/1"), verdict]
            _ = try scratch.ledger.appender.record(Sample.submissions(lines))
            let pipeline = try scratch.ledger.appender.pipeline
            func lapse(at instant: Instant) throws -> Receipt {
                try pipeline.record(
                    LapsedVerdictProposal(
                        verdict: LapsedVerdict(
                            purchase: PurchaseName(store: "app_store", originalID: "1"),
                            transactionID: nil,
                            method: "store_api",
                            code: "untrusted_root",
                            sequence: 1
                        ),
                        environment: .production,
                        askedAt: instant
                    )
                )
            }
            #expect(try lapse(at: now) == .appended(first: 2, count: 1))
            let failed = try #require(try scratch.ledger.questions.event(at: 2)).event
            #expect(failed.time == max(now, time))
            // The control: the ledger says so already.
            #expect(try lapse(at: now.advanced(byMilliseconds: 1)) == .known)
        }
    }
}
