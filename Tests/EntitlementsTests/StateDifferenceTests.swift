import Encodings
import Entitlements
import LedgerAPI
import ModelSupport
import Testing

/// What differs between two states (T4, T5).
struct `A difference of states` {
    private static func state(
        _ history: RandomHistory,
        _ question: RandomQuestion
    ) throws -> StateContent {
        try StateContent.fields.read(
            SlowModel(log: Array(history.log.prefix(question.prefix))).show(
                customer: question.customer.text,
                environment: question.environment,
                at: question.at
            )
        )
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
        let before = try Self.state("free", export: #"false,"until":null,"reason":"none""#, 1, 3)
        let after = try Self.state("pro", export: #"true,"until":null,"reason":"purchase""#, 2, 2)
        let difference = StateDifference(from: before, to: after)
        #expect(difference.tier?.after == "pro" && difference.validUntil == nil)
        #expect(difference.features.map(\.name) == ["export"])
        #expect(difference.features.first?.changed == ["allowed", "reason"])
        #expect(difference.purchases.map(\.name) == ["app_store/1", "app_store/2"])
        #expect(difference.purchases[0].after == nil && difference.purchases[1].before == nil)
        #expect(difference.purchases.allSatisfy { $0.changed.isEmpty })
        #expect(difference.grants.isEmpty && difference.trials.first?.changed == ["remainingDays"])
    }

    // The names of two purchases may differ in their bytes alone.
    @Test func `tells names apart that Swift takes for one`() throws {
        var before = try Self.state("free", export: #"false,"until":null,"reason":"none""#, 1, 3)
        let (one, two) = ("app_store/caf\u{E9}", "app_store/cafe\u{301}")
        #expect(one == two)
        before.purchases = [one, two].map { name in
            var purchase = before.purchases[0]
            purchase.purchase = name
            return purchase
        }
        var after = before
        after.purchases[1].isVerified = false
        let changes = StateDifference(from: before, to: after).purchases
        #expect(changes.count == 1 && changes.first?.before == before.purchases[1])
        #expect(changes.first?.name.utf8.elementsEqual(two.utf8) == true)
    }

    private static func state(
        _ tier: String,
        export: String,
        _ purchase: Int,
        _ remainingDays: Int
    ) throws -> StateContent {
        let text = #"""
            {"tier":"\#(tier)","validUntil":null,"features":{
             "export":{"allowed":\#(export),"sources":[],"limit":null},
             "scan":{"allowed":true,"until":null,"reason":"free","sources":[],"limit":null}},
             "purchases":[{"purchase":"app_store/\#(purchase)","productId":null,
              "productKind":null,"status":"active","expiresAt":null,"isVerified":true,
              "isSynced":false,"syncedAt":null,"willRenew":null,"nextProductId":null}],
             "grants":[],"trials":[{"trialId":"week","remainingDays":\#(remainingDays)}],
             "warnings":[]}
            """#
        return try StateContent.fields.read(JSONValue(parsing: Array(text.utf8)))
    }
}
