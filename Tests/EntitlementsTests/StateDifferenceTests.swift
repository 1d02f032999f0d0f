import Encodings
import Entitlements
import ModelSupport
import Testing

/// What differs between two states (Model, "Questions").
struct `A difference of states` {
    private static func state(
        _ history: RandomHistory,
        _ question: RandomQuestion
    ) throws -> [JSONMember] {
        let answer = SlowModel(log: Array(history.log.prefix(question.prefix))).show(
            customer: question.customer,
            environment: question.environment,
            at: question.at
        )
        return try #require(answer.members).filter {
            !["customer", "environment", "at"].contains($0.name)
        }
    }

    // T4, T5: whatever the two points.
    @Test func `leads from the one to the other, and is empty between equal ones`() throws {
        var (different, named) = (0, 0)
        for seed: UInt64 in 1...150 {
            let history = RandomHistory(seed: seed, questions: 6)
            let states = try history.questions.map { try Self.state(history, $0) }
            for before in states {
                for after in states {
                    let difference = StateDifference(from: before, to: after)
                    #expect(difference.applied(to: before) == after, "seed \(seed)")
                    #expect(difference.isEmpty == (before == after), "seed \(seed)")
                    different += difference.isEmpty ? 0 : 1
                    named +=
                        difference.features.count + difference.purchases.count
                        + difference.grants.count + difference.trials.count
                }
            }
        }
        #expect(different > 500 && named > 1000, "there was something to compare")
    }

    @Test func `names the members that differ, what came and what went`() throws {
        let before = try JSONValue(parsing: Array(Self.before.utf8))
        let after = try JSONValue(parsing: Array(Self.after.utf8))
        let difference = StateDifference(from: before.members ?? [], to: after.members ?? [])
        #expect(difference.tier?.after == "pro" && difference.validUntil == nil)
        #expect(difference.features.map(\.name) == ["export"])
        #expect(difference.features.first?.changed == ["allowed", "reason"])
        #expect(difference.purchases.map(\.name) == ["app_store/1", "app_store/2"])
        #expect(difference.purchases[0].after == nil && difference.purchases[1].before == nil)
        #expect(difference.purchases.allSatisfy { $0.changed.isEmpty })
        #expect(difference.grants.isEmpty && difference.trials.first?.changed == ["remainingDays"])
    }

    // The names of two customers may differ in their bytes alone.
    @Test func `tells names apart that Swift takes for one`() {
        let (one, two) = ("caf\u{E9}", "cafe\u{301}")
        #expect(one == two)
        let changes = [NamedChange](
            from: [JSONMember(one, "a"), JSONMember(two, "b")],
            to: [JSONMember(one, "a"), JSONMember(two, "c")]
        )
        #expect(changes.count == 1 && changes.first?.before == "b")
    }

    private static let before = #"""
        {"tier":"free","validUntil":null,"features":{"export":{"allowed":false,"reason":"none"},
         "scan":{"allowed":true,"reason":"free"}},
         "purchases":[{"purchase":"app_store/1","status":"active"}],"grants":[],
         "trials":[{"trialId":"week","remainingDays":3}],"warnings":[]}
        """#
    private static let after = #"""
        {"tier":"pro","validUntil":null,"features":{"export":{"allowed":true,"reason":"purchase"},
         "scan":{"allowed":true,"reason":"free"}},
         "purchases":[{"purchase":"app_store/2","status":"active"}],"grants":[],
         "trials":[{"trialId":"week","remainingDays":2}],"warnings":[]}
        """#
}
