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

    // MARK: Of other answers

    /// Instants until just before one; days, a year and a century later where there is none.
    private static func instants(after instant: Instant, until end: Instant?) -> [Instant] {
        guard let end else {
            return [1, 365, 36_500].map { instant.advanced(byMilliseconds: $0 * 86_400_000) }
        }
        let length = end.milliseconds - instant.milliseconds
        return [length / 2, length - 1].map { instant.advanced(byMilliseconds: $0) }
    }

    private static func explanation(
        _ question: ExplainedQuestion,
        at instant: Instant
    ) -> Explanation? {
        ExplainedQuestion(
            log: question.log,
            customer: question.customer,
            environment: question.environment,
            at: instant,
            feature: question.feature
        )
        .explanation
    }

    private static func isSame(_ left: Explanation, _ right: Explanation?) -> Bool {
        guard let right else { return false }
        return left.decision == right.decision && left.steps == right.steps
            && left.wouldChange == right.wouldChange && left.notUsed == right.notUsed
            && left.completeness == right.completeness
    }

    // row Z2: a step that is told is an answer, too
    @Test func `of an explanation is no later than anything of it is told otherwise`() {
        var counts = (bounded: 0, unbounded: 0, changed: 0)
        ExplanationComparison.questions(1000, from: 11) { question in
            guard let told = question.explanation else { return true }
            for instant in Self.instants(after: question.at, until: told.validUntil) {
                let isSame = Self.isSame(told, Self.explanation(question, at: instant))
                #expect(isSame, "\(question.feature) at \(question.at), then at \(instant)")
            }
            guard let end = told.validUntil else {
                counts.unbounded += 1
                return true
            }
            counts.bounded += 1
            if !Self.isSame(told, Self.explanation(question, at: end)) { counts.changed += 1 }
            return true
        }
        #expect(counts.unbounded > 5 && counts.changed > 20, "\(counts)")
        #expect(counts.changed <= counts.bounded)
    }

    private static let leeway = """
        catalog 1 policy={"renewalLeewaySeconds":86400}
        app_store/1 buy 1 t1 m 31
        app_store/1 ok 1
        @ann claim 1 app_store/1
        """

    // The decision stands through a leeway and a renewal: what is told of it does not.
    @Test(
        arguments: [
            (leeway, "5", "31"), (leeway, "31", "32"), (leeway, "32", nil),
            ("start\napp_store/1 renew 31 t2 m 60", "40", "60"),
            ("catalog 1\n@ann grant.given 1 grantId=g tier=pro expiresAt=9", "5", "9"),
            // Without the event it would have been open until then.
            ("start\napp_store/1 purchase.expired 10 transactionId=t1", "20", "31"),
        ] as [(String, String, String?)]
    )
    func `of an explanation is when it is another`(
        _ story: String,
        _ day: String,
        _ end: String?
    ) throws {
        let question = ExplainedQuestion(
            log: try Story(story).log,
            customer: "ann",
            at: try Story.day(day),
            feature: "f1"
        )
        let told = try #require(question.explanation)
        let expected = try end.map { try Story.day($0) }
        #expect(told.validUntil == expected)
        guard let validUntil = told.validUntil else { return }
        let before = validUntil.advanced(byMilliseconds: -1)
        #expect(Self.isSame(told, Self.explanation(question, at: before)))
        #expect(!Self.isSame(told, Self.explanation(question, at: validUntil)))
    }

    /// What the list of purchases says of one.
    private struct ListedPurchase: Hashable {
        var state: CustomerState.PurchaseState
        var owned: Interval?
        var periods: [Period]

        struct Period: Hashable {
            var status: PurchaseStatus
            var verdict: UInt64?
            var revocation: UInt64?
        }
    }

    private static func purchases(
        _ timeline: CustomerTimeline,
        at instant: Instant
    ) -> [ListedPurchase] {
        timeline.owned(at: instant).map { owned in
            let purchase = owned.timeline
            let begun = purchase.periods.indices.filter { purchase.periods[$0].start <= instant }
            return ListedPurchase(
                state: purchase.state(at: instant),
                owned: owned.ownership.first { $0.contains(instant) },
                periods: begun.map { index in
                    let period = purchase.periods[index]
                    return ListedPurchase.Period(
                        status: purchase.status(ofPeriod: index, at: instant),
                        verdict: period.verdict(at: instant)?.sequence,
                        revocation: period.revocation(at: instant)?.statement.sequence
                    )
                }
            )
        }
    }

    @Test func `of purchases is no later than anything of them changes`() {
        var counts = (bounded: 0, unbounded: 0, changed: 0)
        for seed: UInt64 in 6000..<6200 {
            let history = RandomHistory(seed: seed)
            for question in history.questions {
                let log = Array(history.log.prefix(question.prefix))
                var interned = InternedHistory(log: log, environment: question.environment)
                let timeline = CustomerTimeline(
                    of: interned.number(Subject.customer(question.customer).description),
                    facts: interned.facts,
                    names: interned.texts.names,
                    catalogs: interned.catalogs,
                    position: { _ in 0 }
                )
                let now = Self.purchases(timeline, at: question.at)
                let end = timeline.nextPurchaseChange(after: question.at)
                for instant in Self.instants(after: question.at, until: end) {
                    #expect(Self.purchases(timeline, at: instant) == now, "seed \(seed)")
                }
                guard let end else {
                    counts.unbounded += 1
                    continue
                }
                counts.bounded += 1
                if Self.purchases(timeline, at: end) != now { counts.changed += 1 }
            }
        }
        #expect(counts.unbounded > 20 && counts.changed > 20, "\(counts)")
        #expect(counts.changed <= counts.bounded)
    }
}
