import Encodings
import EntitlementLedger
import Entitlements
import LedgerAPI
import Testing

/// Why something of a source may be missing (Z12).
struct `What a status says of a source` {
    private static func completeness(
        _ scratch: ScratchLedger,
        _ source: String
    ) throws -> StatusAnswer.Completeness? {
        try scratch.ledger.auditor.status().completeness.first { $0.name == source }?.value
    }

    @Test func `is that it was never asked, or that signals in its name were refused since`()
        async throws
    {
        try await ScratchLedger.with { scratch in
            let ledger = scratch.ledger
            let start = scratch.clock.now
            // Nothing but what was refused has come: a configuration that trusts nobody, say.
            try ledger.appender.countRefusal("bad_chain", of: "app_store", environment: .production)
            let nothing = try Self.completeness(scratch, "app_store")
            #expect(nothing?.gaps == [.neverAsked, .refused] && nothing?.events == 0)
            func complete(_ id: String, through: Instant) throws {
                let data = #"{"through":"\#(through)"}"#
                let line = Sample.line(id, "sync.completed", "store/app_store", data: data)
                    .replacing(#""source":"support""#, with: #""source":"app_store""#)
                _ = try ledger.appender.record(Sample.submissions([line]))
            }
            try complete("early", through: start.advanced(byMilliseconds: -1))
            #expect(try Self.completeness(scratch, "app_store")?.gaps == [.refused])
            try complete("late", through: start.advanced(byMilliseconds: 1))
            let whole = try Self.completeness(scratch, "app_store")
            #expect(whole?.gaps == [] && whole?.lastRefusedAt == start)
            // Of what is no store nothing can be missing so.
            _ = try ledger.appender.record(
                Sample.submissions(Sample.ownedPurchase("ann", "app_store/1"))
            )
            #expect(try Self.completeness(scratch, "support")?.gaps == [])
        }
    }

    // RevenueCat has no list of what it sent: a backfill asks it nothing (Stores, rule 9).
    @Test func `is that it cannot be asked, where a store has no list`() async throws {
        try await ScratchLedger.with { scratch in
            let appender = try scratch.ledger.appender
            for store in Source.stores {
                _ = appender.countRefusal("bad_chain", of: store, environment: .production)
            }
            let gaps = try Source.stores.map { try Self.completeness(scratch, $0)?.gaps.first }
            #expect(gaps == [.neverAsked, .neverAsked, .cannotBeAsked])
        }
    }

    // What was counted before is not counted again, and what comes behind it is.
    @Test func `is the same asked after each event and asked once`() async throws {
        try await ScratchLedger.with { scratch in
            let ledger = scratch.ledger
            let data = #"{"through":"2025-01-01T00:00:00Z"}"#
            let lines = [
                Sample.line("s", "sync.completed", "store/app_store", data: data)
                    .replacing(#""source":"support""#, with: #""source":"app_store""#),
                Sample.line(
                    "o",
                    "grant.given",
                    "customer/ann",
                    data: #"{"grantId":"g","tier":"t"}"#
                )
                .replacing(#""source":"support""#, with: #""source":"elsewhere""#),
            ]
            for line in Sample.ownedPurchase("ann", "app_store/1") + lines {
                _ = try ledger.appender.record(Sample.submissions([line]))
                _ = try ledger.auditor.status()
            }
            try ledger.appender.countRefusal("bad_chain", of: "play_store", environment: .sandbox)
            let stepwise = try ledger.auditor.status()
            // Nothing is counted of what an earlier opening counted.
            try scratch.reopen()
            var atOnce = try scratch.ledger.auditor.status()
            atOnce.views = stepwise.views
            #expect(AnswerText(stepwise) == AnswerText(atOnce))
            #expect(stepwise.environmentCounts.production + 1 == Int(stepwise.sequence))
            #expect(stepwise.environmentCounts.sandbox == 1)
            let named = stepwise.completeness.map(\.name)
            #expect(named == ["app_store", "ledger", "other", "play_store", "support"])
        }
    }
}
