import Encodings
import Entitlements
import ModelSupport
import Testing

/// Subscriptions of Google Play that were not heard of when they began: what nobody told is filled in
/// (Stores, rule 3).
struct `A subscription of Google Play, heard of late` {
    // P1, P9: an answer about the end of a hold does not say when that began
    @Test(arguments: ["GPA.1", "GPA.1..0"])
    func `is on hold until its end is told, and behind it`(_ paid: String) async throws {
        var story = try PlayStory()
        story.answer(5, "SUBSCRIPTION_STATE_ON_HOLD", order: paid, end: 61, on: 61)
        story.answer(13, "SUBSCRIPTION_STATE_EXPIRED", order: paid, end: 121, on: 121)
        for order in [[0, 1], [1, 0]] {
            let statuses = try await story.statuses(at: [30, 62, 90, 120], order: order)
            let retry = Array(repeating: "billing_retry", count: 3)
            #expect(statuses == ["active"] + retry, "\(order)")
            let access = try await story.access(at: [30, 62, 90, 120], order: order)
            #expect(access == [true, false, false, false], "\(order)")
        }
        // The control: a hold that nobody told of reads as access.
        #expect(try await story.access(at: [90, 122], order: [1]) == [true, false])
    }

    // P1, P4: paid again, on hold again, and paid again, of which a renewal alone is told
    @Test func `has what it was given between its holds, and no more`() async throws {
        var story = try PlayStory()
        story.answer(5, "SUBSCRIPTION_STATE_ON_HOLD", order: "GPA.1..0", end: 61, on: 61)
        story.answer(1, "SUBSCRIPTION_STATE_ACTIVE", order: "GPA.1..1", end: 100, on: 70)
        story.answer(5, "SUBSCRIPTION_STATE_ON_HOLD", order: "GPA.1..1", end: 100, on: 100)
        story.answer(2, "SUBSCRIPTION_STATE_ACTIVE", order: "GPA.1..2", end: 140, on: 110)
        story.answer(13, "SUBSCRIPTION_STATE_EXPIRED", order: "GPA.1..2", end: 140, on: 140)
        let expected: [(Int64, String)] = [
            (30, "active"), (62, "billing_retry"), (69, "billing_retry"), (71, "active"),
            (99, "active"), (101, "billing_retry"), (109, "billing_retry"), (111, "active"),
            (139, "active"), (141, "expired"),
        ]
        var order = Array(story.answers.indices)
        var random = SplitMix64(seed: 4)
        for _ in 0..<8 {
            let statuses = try await story.statuses(at: expected.map(\.0), order: order)
            #expect(statuses == expected.map(\.1), "\(order)")
            order.shuffle(using: &random)
        }
    }

    // Stores, rule 9: what an answer saw stays, also where what came before it was a hold
    @Test func `has what an answer saw, though another one sees it later`() async throws {
        var story = try PlayStory()
        story.answer(5, "SUBSCRIPTION_STATE_ON_HOLD", order: "GPA.1..0", end: 61, on: 61)
        story.answer(nil, "SUBSCRIPTION_STATE_ACTIVE", order: "GPA.1..1", end: 105, on: 75)
        story.answer(
            nil,
            "SUBSCRIPTION_STATE_CANCELED",
            order: "GPA.1..1",
            end: 105,
            on: 85,
            #"{"canceledStateContext":{"userInitiatedCancellation":{"cancelTime":"2026-03-21T00:00:00Z"}}}"#
        )
        for order in [[0, 1, 2], [2, 1, 0], [1, 2, 0]] {
            let access = try await story.access(at: [30, 62, 80, 90, 106], order: order)
            #expect(access == [true, false, true, true, false], "\(order)")
        }
    }

    // P1, P13, C1: its token began later than the order that goes on under it, and so did others before
    @Test(arguments: ["{}", #"{"linkedPurchaseToken":"first"}"#])
    func `keeps its past under another token`(_ before: String) async throws {
        var story = try PlayStory(token: "old")
        let linked = #""linkedPurchaseToken":"old""#
        story.answer(
            nil,
            "SUBSCRIPTION_STATE_ACTIVE",
            order: "GPA.1..1",
            end: 91,
            on: 60,
            before
        )
        (story.token, story.start) = ("new", 69)
        story.answer(
            4,
            "SUBSCRIPTION_STATE_ACTIVE",
            order: "GPA.1..1",
            end: 91,
            on: 70,
            """
            {\(linked),"lineItems":[
              {"productId":"com.example.app.pro","expiryTime":"\(Sample.day(91))",
               "autoRenewingPlan":{"autoRenewEnabled":true},
               "deferredItemReplacement":{"productId":"com.example.app.basic"},
               "latestSuccessfulOrderId":"GPA.1..1"}]}
            """
        )
        story.answer(
            5,
            "SUBSCRIPTION_STATE_ON_HOLD",
            order: "GPA.1..1",
            end: 91,
            on: 91,
            "{\(linked)}"
        )
        // Whom the app names for it meanwhile takes nothing that another one had.
        for place in 1...2 {
            let told = story.answers[place].description.replacing("alice", with: "ben")
            story.answers[place] = try Sample.json(told)
        }
        for order in [[0, 1, 2], [2, 1, 0], [1, 0, 2]] {
            let access = try await story.access(at: [5, 59, 61, 69, 80, 92], order: order)
            #expect(access == [true, true, true, true, true, false], "\(order)")
        }
    }

    // P13: the first order is told by each answer, not only by the one to the first push
    @Test func `is one purchase with what RevenueCat tells of it`() async throws {
        var story = try PlayStory()
        story.answer(2, "SUBSCRIPTION_STATE_ACTIVE", order: "GPA.1..0", end: 61, on: 31)
        story.submissions = [try RevenueCatStory.webhook("RENEWAL", "GPA.1..0", 31, 61, on: 31)]
        for order in [[0, 1], [1, 0]] {
            let purchases = try await story.purchases(on: 40, order: order)
            #expect(purchases == ["play_store/simulated-token-1"], "\(order)")
        }
    }
}
