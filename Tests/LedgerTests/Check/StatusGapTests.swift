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
}
