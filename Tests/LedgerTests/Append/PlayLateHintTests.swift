import Encodings
import Entitlements
import StoreSimulator
import Testing

/// Hints of Google Play that come late: what is asked for then tells of a later time than theirs
/// (Stores, rule 3).
struct `A late hint of Google Play` {
    /// Google's answer on a day to a hint of an earlier one.
    private static func answer(
        _ answer: JSONValue,
        of token: String,
        askedOn day: Int64,
        after push: JSONValue
    ) throws -> JSONValue {
        try PlayStory.store.get().answer(answer, of: token, at: Sample.day(day), after: push)
    }

    private static func story(
        _ state: String,
        end: Int64,
        askedOn day: Int64,
        afterHint type: Int
    ) throws -> PlayStory {
        var story = try PlayStory()
        story.answer(4, "SUBSCRIPTION_STATE_ACTIVE", order: "GPA.1", end: 31, on: 1)
        story.answer(type, state, order: "GPA.1..0", end: end, on: 31)
        guard let told = story.answers.popLast(), let push = told["push"],
            let said = told["answer"]
        else { return story }
        story.answers.append(
            try answer(said, of: story.token, askedOn: day, after: push)
        )
        return story
    }

    // P5: a renewal that is asked about when it is over already, and the plan paused
    @Test func `does not pause what was paid before`() async throws {
        let story = try Self.story("SUBSCRIPTION_STATE_PAUSED", end: 61, askedOn: 63, afterHint: 2)
        #expect(try await story.access(at: [20, 45, 62]) == [true, true, false])
        #expect(try await story.statuses(at: [64]) == ["paused"])
        // The control: the pause's own hint says when it began.
        let own = try Self.story("SUBSCRIPTION_STATE_PAUSED", end: 31, askedOn: 63, afterHint: 10)
        #expect(try await own.access(at: [20, 45, 62]) == [true, false, false])
    }

    // P9: on hold since the end of what was paid
    @Test func `does not hold what was paid before`() async throws {
        let story = try Self.story("SUBSCRIPTION_STATE_ON_HOLD", end: 61, askedOn: 63, afterHint: 2)
        #expect(try await story.access(at: [20, 45, 62]) == [true, true, false])
    }

    // P6: bought on the first day, given back by the tenth, and asked about only then
    @Test func `does not take back what was had until then`() async throws {
        let store = try PlayStory.store.get()
        let push = store.push(
            .members([
                "oneTimeProductNotification": .members([
                    "notificationType": .integer(1), "purchaseToken": "simulated-token-1",
                ])
            ]),
            id: "m1",
            at: Sample.day(1)
        )
        var story = try PlayStory()
        story.answers = [
            try Self.answer(
                Sample.json(
                    """
                    {"productLineItem":[{"productId":"com.example.app.pro"}],"orderId":"GPA.1",
                     "purchaseStateContext":{"purchaseState":"CANCELLED"},
                     "purchaseCompletionTime":"\(Sample.day(1))",
                     "obfuscatedExternalAccountId":"alice"}
                    """
                ),
                of: "simulated-token-1",
                askedOn: 10,
                after: push
            )
        ]
        #expect(try await story.access(at: [5, 11]) == [true, false])
        #expect(try await story.statuses(at: [11]) == ["refunded"])
    }

    // P9: pending until it was given up, whenever that was
    @Test func `does not give up what was waited for`() async throws {
        var story = try Self.story(
            "SUBSCRIPTION_STATE_PENDING_PURCHASE_CANCELED",
            end: 31,
            askedOn: 10,
            afterHint: 4
        )
        story.answers.removeFirst()
        story.hint(4, on: 1)
        story.isClaimed = true
        #expect(try await story.statuses(at: [5, 11]) == ["pending", "none"])
    }
}
