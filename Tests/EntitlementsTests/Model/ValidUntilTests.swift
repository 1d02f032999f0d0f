import Encodings
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
                customer: question.customer.text,
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

    /// Lends random questions with the prefix that is known, and what was stated.
    private static func questions(
        _ seeds: Range<UInt64>,
        _ body: (RandomQuestion, [RecordedEvent], Instant?, Comment) -> Void
    ) {
        for seed in seeds {
            let history = RandomHistory(seed: seed)
            for question in history.questions {
                let log = Array(history.log.prefix(question.prefix))
                let answer = fastShow(
                    log: log,
                    customer: question.customer.text,
                    environment: question.environment,
                    at: question.at
                )
                let stated = answer?["validUntil"]?.string
                let validUntil = stated.flatMap { Instant(rfc3339: $0) }
                #expect(stated == nil || validUntil != nil, "seed \(seed)")
                body(question, log, validUntil, "seed \(seed)")
            }
        }
    }

    @Test func `is the very instant at which it changes by itself`() {
        var counts = (bounded: 0, unbounded: 0)
        Self.questions(5000..<5400) { question, log, validUntil, seed in
            #expect(Self.isExact(validUntil, log, question) == true, seed)
            if validUntil == nil { counts.unbounded += 1 } else { counts.bounded += 1 }
        }
        #expect(counts.bounded > 200 && counts.unbounded > 50, "\(counts)")
    }

    // The control: an instant that is off by a millisecond is found.
    @Test func `would be found wrong by a millisecond`() {
        var count = 0
        Self.questions(5000..<5050) { question, log, validUntil, seed in
            for offset: Int64 in [-1, 1] {
                // Just after the question there is no instant between.
                guard let wrong = validUntil?.advanced(byMilliseconds: offset),
                    wrong > question.at
                else { continue }
                #expect(Self.isExact(wrong, log, question) == false, seed)
                count += 1
            }
        }
        #expect(count > 50)
    }
}
