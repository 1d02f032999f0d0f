import Entitlements
import Testing

/// Line items of one subscription of Google Play, through the whole ledger.
struct `Products of one subscription of Google Play` {
    /// One item; `end`: a day, nil: it is not had yet.
    private static func item(_ product: String, until end: Int64?, _ more: String = "") -> String {
        let paid = end.map {
            #","expiryTime":"\#(Sample.day($0))","latestSuccessfulOrderId":"GPA.1""#
        }
        return #"{"productId":"com.example.app.\#(product)","#
            + #""autoRenewingPlan":{"autoRenewEnabled":true}"# + (paid ?? "") + more + "}"
    }

    private static func items(_ items: [String], _ more: String = "") -> String {
        #"{"lineItems":[\#(items.joined(separator: ","))]\#(more)}"#
    }

    // P2, P13; Stores, rule 3: a change at the next renewal has a new token at once, which goes on
    // with what is paid, and the old one is told to have ended after that
    @Test func `take nothing from what is paid until they replace it`() async throws {
        var story = try PlayStory(token: "old")
        story.answer(4, "SUBSCRIPTION_STATE_ACTIVE", order: "GPA.1", end: 31, on: 1)
        let next = #","deferredItemReplacement":{"productId":"com.example.app.basic"}"#
        let changes = Self.items(
            [Self.item("pro", until: 31, next), Self.item("basic", until: nil)],
            #","linkedPurchaseToken":"old""#
        )
        story.replace(by: "new", order: "GPA.1", end: 31, on: 10, changes)
        for order in [[0, 1, 2], [0, 2, 1], [2, 1, 0], [1, 2, 0]] {
            let access = try await story.access(at: [5, 11, 30, 32], order: order)
            #expect(access == [true, true, true, false], "\(order)")
            let purchases = try await story.purchases(on: 20, order: order)
            #expect(purchases == ["play_store/old"], "\(order)")
        }
        // The control: without the new token what was paid is over.
        #expect(try await story.access(at: [5, 11], order: [0, 2]) == [true, false])
    }

    // P5: one is not paid, and the whole is on hold until it is paid or given up
    @Test(arguments: [(1, "SUBSCRIPTION_STATE_ACTIVE"), (3, "SUBSCRIPTION_STATE_CANCELED")])
    func `are suspended together and go on`(_ type: Int, _ state: String) async throws {
        let items = Self.items([Self.item("pro", until: 61), Self.item("addon", until: 21)])
        var story = try PlayStory()
        story.answer(4, "SUBSCRIPTION_STATE_ACTIVE", order: "GPA.1", end: 61, on: 1, items)
        story.answer(5, "SUBSCRIPTION_STATE_ON_HOLD", order: "GPA.1", end: 61, on: 21, items)
        // The control: nobody says that the hold is over.
        #expect(try await story.access(at: [20, 22, 26]) == [true, false, false])
        story.answer(type, state, order: "GPA.1", end: 61, on: 25, items)
        for order in [[0, 1, 2], [2, 1, 0], [1, 2, 0]] {
            let access = try await story.access(at: [20, 22, 24, 26, 60, 62], order: order)
            #expect(access == [true, false, false, true, true, false], "\(order)")
        }
    }
}
