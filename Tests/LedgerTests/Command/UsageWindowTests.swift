import Encodings
import Entitlements
import Foundation
import Testing

/// C5 in a real time zone, where days have 23 and 25 hours; K10 resolves it at publish.
@Suite(.enabled(if: EntitleCommand.isPresent, EntitleCommand.absence))
struct `The window of a limit in Berlin` {
    private static func catalog(_ period: String) -> String {
        """
        {"tiers":["free"],"features":[{"id":"scan","level":"free","limits":{"free":{
          "perPeriod":{"count":3,"period":"\(period)","timeZone":"Europe/Berlin"}}}}],"products":[]}
        """
    }

    @Test(arguments: [
        // The 29th of March has 23 hours, the 25th of October 25.
        ("day", "2026-03-28T22:59:59.999Z", "2026-03-28T23:00:00.000Z"),
        ("day", "2026-03-28T23:00:00Z", "2026-03-29T22:00:00.000Z"),
        ("day", "2026-10-24T22:00:00Z", "2026-10-25T23:00:00.000Z"),
        ("day", "2026-10-25T22:59:59.999Z", "2026-10-25T23:00:00.000Z"),
        ("week", "2026-03-25T12:00:00Z", "2026-03-29T22:00:00.000Z"),
        ("week", "2026-03-29T22:00:00Z", "2026-04-05T22:00:00.000Z"),
        ("month", "2026-10-01T00:00:00+02:00", "2026-10-31T23:00:00.000Z"),
        ("month", "2026-12-31T23:59:59+01:00", "2026-12-31T23:00:00.000Z"),
        ("month", "2028-02-29T12:00:00Z", "2028-02-29T23:00:00.000Z"),
    ])
    func `ends at its own midnight`(
        _ period: String,
        _ at: String,
        _ resetsAt: String
    ) async throws {
        try await withScratchDirectory { folder in
            // Without another catalog that the clock would bring into force.
            let ledger = CommandLedger(folder: folder)
            #expect(try await ledger.run(["init"]).code == 0)
            let published = try await ledger.run(
                ["catalog", "publish", "-", "--effective", "2026-01-01"],
                input: Self.catalog(period)
            )
            #expect(published.code == 0, "\(published.errors)")
            let end = try #require(Instant(rfc3339: resetsAt))
            // One use in the window's last instant, one in the next window's first.
            let uses = [(-1, "last"), (0, "next")].map { offset, id in
                Sample.line(
                    id,
                    "usage.recorded",
                    "customer/ann",
                    data: #"{"useId":"\#(id)","featureId":"scan"}"#,
                    time: end.advanced(byMilliseconds: Int64(offset))
                )
            }
            try ledger.record(uses)
            let outcome = try await ledger.run(["can", "ann", "scan", "--at", at])
            let limit = outcome.json?["limit"]
            #expect(limit?["resetsAt"]?.string == resetsAt)
            #expect(limit?["remaining"]?.integer == 2)
        }
    }
}
