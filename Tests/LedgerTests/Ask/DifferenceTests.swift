import Encodings
import EntitlementLedger
import Entitlements
import LedgerAPI
import ModelSupport
import Testing

/// What changed for a customer, or became known.
struct `A difference between two points` {
    // T4, T5; Model, "Questions"
    @Test func `leads from one state to the other, and names the events in between`() async throws {
        var (different, listed) = (0, 0)
        for seed: UInt64 in 1...25 {
            let history = RandomHistory(seed: seed, questions: 4)
            let log = history.log.filter { $0.kind != .customerErased }
            let clock = TestClock(Instant(milliseconds: 1_893_456_000_000))
            try await ScratchLedger.with(clock: clock) { scratch in
                _ = try scratch.ledger.appender.record(log.map { Submission(event: $0.event) })
                for (one, other) in zip(history.questions, history.questions.dropFirst()) {
                    let points = [one, other].map {
                        BitemporalPoint(
                            at: $0.at,
                            knownAt: .sequence(UInt64(min($0.prefix, log.count)))
                        )
                    }
                    let question = DifferenceQuestion(
                        customer: one.customer,
                        environment: one.environment,
                        from: points[0],
                        to: points[1]
                    )
                    let answer = try scratch.ledger.questions.difference(question)
                    let states = try points.map { try Self.show(scratch.ledger, question, $0) }
                    let difference = StateDifference(from: states[0], to: states[1])
                    #expect(answer.difference == difference, "seed \(seed)")
                    #expect(difference.applied(to: states[0]) == states[1], "seed \(seed)")
                    different += difference.isEmpty ? 0 : 1
                    let sequences = answer.events.map { Int($0.sequence) }
                    listed += sequences.count
                    #expect(
                        sequences == sequences.sorted() && Set(sequences).count == sequences.count
                    )
                    let between = Self.between(points, log)
                    #expect(between.isSuperset(of: sequences), "seed \(seed)")
                }
            }
        }
        #expect(different > 20 && listed > 40, "there was something to compare")
    }

    // Whose an event is a later one may tell, such as the claim of a purchase.
    @Test func `names what took effect of a purchase that was claimed in between`() async throws {
        try await ScratchLedger.with { scratch in
            let bought = Sample.ownedPurchase("ann", "app_store/1")
            let refund = Sample.line(
                "refund",
                "revocation.refunded",
                "purchase/app_store/1",
                time: Sample.day(10)
            )
            let lines = Array(bought.dropLast()) + [refund] + Array(bought.suffix(1))
            _ = try scratch.ledger.appender.record(Sample.submissions(lines))
            let answer = try scratch.ledger.questions.difference(
                DifferenceQuestion(
                    customer: "ann",
                    environment: .production,
                    from: BitemporalPoint(at: Sample.day(5), knownAt: .sequence(3)),
                    to: BitemporalPoint(at: Sample.day(15), knownAt: .sequence(4))
                )
            )
            #expect(answer.events.map(\.sequence) == [2, 3])
        }
    }

    /// The events that became known between two points, or took effect.
    private static func between(
        _ points: [BitemporalPoint],
        _ log: [RecordedEvent]
    ) -> Set<Int> {
        let sizes = points.map { point -> Int in
            guard case .sequence(let size) = point.knownAt else { return 0 }
            return Int(size)
        }
        let first = min(points[0].at, points[1].at)
        let last = max(points[0].at, points[1].at)
        return Set(
            log.indices.filter { index in
                index < sizes.max() ?? 0
                    && (index >= sizes.min() ?? 0
                        || (log[index].event.time > first && log[index].event.time <= last))
            }
        )
    }

    private static func show(
        _ ledger: Ledger,
        _ question: DifferenceQuestion,
        _ point: BitemporalPoint
    ) throws -> StateContent {
        try ledger.questions.show(
            CustomerQuestion(
                customer: question.customer,
                environment: question.environment,
                point: point
            )
        ).state
    }

    // row Z1: a refund that is told of late.
    @Test(.enabled(if: EntitleCommand.isPresent, EntitleCommand.absence))
    func `tells what became known, from the command, too`() async throws {
        try await CommandLedger.with { ledger in
            let bought = Sample.ownedPurchase("ann", "app_store/1")
            try ledger.record(bought)
            let known = try await ledger.show("ann")["sequence"]?.integer ?? 0
            let refund = Sample.line(
                "refund",
                "revocation.refunded",
                "purchase/app_store/1",
                time: Sample.day(10)
            )
            try ledger.record([refund])
            let at = ["--at", "2026-01-15"]
            let outcome = try await ledger.run(
                ["diff", "ann", "--known-sequence", "\(known)"] + at
            )
            #expect(outcome.code == 0, "\(outcome.errors)")
            let answer = try #require(outcome.json)
            #expect(answer["tier"] == .members(["before": "pro", "after": "free"]))
            let purchase = try #require(answer["purchases"]?.array?.first)
            #expect(purchase["changed"] == .strings(["status"]))
            #expect(purchase["after"]?["status"] == "refunded")
            #expect((answer["events"]?.array ?? []).map { $0["type"] } == ["revocation.refunded"])
            // Control: of two points that are one nothing differs.
            let same = try await ledger.run(["diff", "ann", "--at", "2026-01-15"] + at)
            #expect(same.json?["purchases"] == .array([]) && same.json?["events"] == .array([]))
        }
    }

    @Test(
        .enabled(if: EntitleCommand.isPresent, EntitleCommand.absence),
        arguments: [
            [], ["--at", "now", "--at", "now", "--at", "now"],
            ["--known", "now", "--known-sequence", "1"],
            ["--at", "now", "--at", "now", "--known", "now", "--known", "now"], ["--at", "soon"],
        ]
    )
    func `that no two points make is refused`(_ arguments: [String]) async throws {
        try await CommandLedger.with { ledger in
            let outcome = try await ledger.run(["diff", "ann"] + arguments)
            #expect(outcome.code == 64 && outcome.problemCode == "usage", "\(outcome.errors)")
        }
    }
}
