import Entitlements
import ModelSupport
import Testing

/// Row Z15: until when an answer stands.
struct `An answer's validUntil` {
    /// What of an answer `validUntil` watches.
    private static func core(_ answer: JSONValue) -> JSONValue {
        .members([
            "tier": answer["tier"] ?? .null,
            "features": .object(
                (answer["features"]?.members ?? []).map { feature in
                    JSONMember(
                        feature.name,
                        .object((feature.value.members ?? []).filter { $0.name != "until" })
                    )
                }
            ),
            "statuses": .array(
                (answer["purchases"]?.array ?? []).map {
                    .members([
                        "purchase": $0["purchase"] ?? .null, "status": $0["status"] ?? .null,
                    ])
                }
            ),
        ])
    }

    /// Whether an answer stands until just before an instant, and is another one then.
    private static func isExact(
        _ validUntil: Instant?,
        _ log: [RecordedEvent],
        _ question: RandomQuestion
    ) -> Bool? {
        func core(_ at: Instant) -> JSONValue? {
            fastShow(
                log: log,
                customer: question.customer,
                environment: question.environment,
                at: at
            )
            .map(Self.core)
        }
        guard let now = core(question.at) else { return nil }
        guard let validUntil else {
            // Never: a day, a year and a century later it still stands.
            return [1, 365, 36_500].allSatisfy { days in
                core(question.at.advanced(byMilliseconds: days * 86_400_000)) == now
            }
        }
        let before = validUntil.advanced(byMilliseconds: -1)
        let middle = Instant(
            milliseconds: question.at.milliseconds
                + (before.milliseconds - question.at.milliseconds) / 2
        )
        return core(before) == now && core(middle) == now && core(validUntil) != now
    }

    @Test func `is the very instant at which it changes by itself`() throws {
        var counts = (bounded: 0, unbounded: 0)
        for seed: UInt64 in 5000..<5400 {
            let history = RandomHistory(seed: seed)
            for question in history.questions {
                let log = Array(history.log.prefix(question.prefix))
                let answer = fastShow(
                    log: log,
                    customer: question.customer,
                    environment: question.environment,
                    at: question.at
                )
                let stated = answer?["validUntil"]?.string
                let validUntil = stated.flatMap { Instant(rfc3339: $0) }
                #expect(stated == nil || validUntil != nil)
                #expect(Self.isExact(validUntil, log, question) == true, "seed \(seed)")
                if validUntil == nil { counts.unbounded += 1 } else { counts.bounded += 1 }
            }
        }
        #expect(counts.bounded > 200 && counts.unbounded > 50, "\(counts)")
    }

    // The control: an instant that is off by a millisecond is found.
    @Test func `would be found wrong by a millisecond`() {
        for seed: UInt64 in 5000..<5050 {
            let history = RandomHistory(seed: seed)
            for question in history.questions {
                let log = Array(history.log.prefix(question.prefix))
                let answer = fastShow(
                    log: log,
                    customer: question.customer,
                    environment: question.environment,
                    at: question.at
                )
                guard
                    let validUntil = (answer?["validUntil"]?.string)
                        .flatMap({ Instant(rfc3339: $0) })
                else { continue }
                for offset: Int64 in [-1, 1] {
                    let wrong = validUntil.advanced(byMilliseconds: offset)
                    // Just after the question there is no instant between.
                    guard wrong > question.at else { continue }
                    #expect(Self.isExact(wrong, log, question) == false, "seed \(seed)")
                }
            }
        }
    }
}
