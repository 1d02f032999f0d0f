import Encodings
import EntitlementLedger
import Entitlements
import Foundation
import Testing

/// C5, rows B2 and Z16: limited uses.
struct `A usage limit` {
    private static func request(_ id: String) -> Request {
        Request(id: id, source: Source.app, environment: .production)
    }

    // In every state of the log that there was, no more uses count than the limit has, and what
    // is taken back may be used again.
    @Test func `holds while uses are recorded and taken back at once`() async throws {
        try await ScratchLedger.with { scratch in
            let ledger = scratch.ledger
            _ = try ledger.appender.publish(
                Sample.catalog(count: 5),
                effective: Sample.newYear,
                Request(id: "catalog", source: Source.catalog, environment: .production)
            )
            _ = try Concurrently.run(48) { number in
                let used = try ledger.appender.use(
                    "scan",
                    by: "ann",
                    amount: 1,
                    unit: "seconds",
                    Self.request("u\(number)")
                )
                guard number.isMultiple(of: 2), case .appended = used.receipt else { return }
                _ = try ledger.appender.reverseUse(
                    "u\(number)",
                    of: "ann",
                    Self.request("r\(number)")
                )
            }
            var used: Set<String> = []
            var (most, reversed) = (0, 0)
            try ledger.questions.events(EventFilter(sequences: 0..<ledger.questions.size())) {
                _,
                event in
                let id = event["data"]?["useId"]?.string ?? ""
                switch event["type"]?.string {
                case "usage.recorded": used.insert(id)
                case "usage.reversed":
                    #expect(used.remove(id) != nil, "what is taken back was used")
                    reversed += 1
                default: break
                }
                most = max(most, used.count)
                return true
            }
            #expect(most <= 5, "never over")
            #expect(used.count == 5 || reversed > 0)
            let limit = try scratch.show("ann")["features"]?["scan"]?["limit"]
            #expect(limit?["remaining"]?.integer == Int64(5 - used.count))
            // Never under: what is left can be used, and no more.
            for number in 0...(5 - used.count) {
                let more = try ledger.appender.use(
                    "scan",
                    by: "ann",
                    amount: 1,
                    unit: nil,
                    Self.request("more\(number)")
                )
                let isAppended = if case .appended = more.receipt { true } else { false }
                #expect(isAppended == (number < 5 - used.count))
            }
        }
    }

    // row Z16
    @Test func `in seconds is a lease whose end is told, also when it is asked again`()
        async throws
    {
        try await ScratchLedger.with { scratch in
            let ledger = scratch.ledger
            _ = try ledger.appender.publish(
                Sample.catalog(),
                effective: Sample.newYear,
                Request(id: "catalog", source: Source.catalog, environment: .production)
            )
            func use(_ id: String, _ amount: Int64?, _ unit: String?) throws -> UseOutcome {
                try ledger.appender.use(
                    "scan",
                    by: "ann",
                    amount: amount,
                    unit: unit,
                    Self.request(id)
                )
            }
            let start = scratch.clock.now
            let first = try use("1", 30, "seconds")
            #expect(first.endsAt == start.advanced(byMilliseconds: 30_000))
            #expect(first.limit?.remaining == 2)
            scratch.clock.now = start.advanced(byMilliseconds: 10_000)
            let again = try use("1", 30, "seconds")
            #expect(again.receipt == .duplicate(of: 1))
            #expect(again.endsAt == first.endsAt)
            // Row B2: without an amount it is all that one use may take, told again the same.
            let whole = try use("2", nil, nil)
            #expect(whole.endsAt == start.advanced(byMilliseconds: 40_000))
            scratch.clock.now = start.advanced(byMilliseconds: 15_000)
            // A catalog of later holds from before the use on: what was told stands.
            _ = try ledger.appender.publish(
                Sample.json(
                    Sample.catalog().description
                        .replacingOccurrences(of: #""amount":30"#, with: #""amount":20"#)
                ),
                effective: Sample.newYear,
                Request(id: "smaller", source: Source.catalog, environment: .production)
            )
            let told = try use("2", nil, nil)
            #expect(told.endsAt == whole.endsAt && told.limit?.perUse?.amount == 20)
            // Another unit does not compare.
            guard case .refused(let refusal) = try use("3", 1, "minutes").receipt else {
                Issue.record("minutes were taken for seconds")
                return
            }
            #expect(refusal.path == "unit")
        }
    }

    // A feature without a limit may be used and counted.
    @Test func `that is not there refuses nothing`() async throws {
        try await ScratchLedger.with { scratch in
            _ = try scratch.ledger.appender.publish(
                Sample.json(
                    #"{"tiers":["free"],"features":[{"id":"play","level":"free"}],"products":[]}"#
                ),
                effective: Sample.newYear,
                Request(id: "catalog", source: Source.catalog, environment: .production)
            )
            for number in 0..<3 {
                let used = try scratch.ledger.appender.use(
                    "play",
                    by: "ann",
                    amount: 1_000_000,
                    unit: nil,
                    Self.request("\(number)")
                )
                #expect(used.receipt == .appended(first: UInt64(number + 1), count: 1))
                #expect(used.limit == nil && used.endsAt == nil)
            }
        }
    }
}
