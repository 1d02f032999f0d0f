import Entitlements
import Testing

/// Whatever has an end is told with it, and the reason lasts as long as the decision (row Z2, K6).
@Suite struct LaterEndTests {
    /// A story, a day, and what is said to be the reason that ann has f1.
    struct Row: Sendable, CustomTestStringConvertible {
        var story: String
        var day = "5"
        var cause: @Sendable () throws -> Explanation.Effect

        var testDescription: String { "\(day): " + story.replacing("\n", with: "; ") }
    }

    private static let grace =
        "start\napp_store/1 purchase.grace_started 31 transactionId=t1 graceUntil=35"
    private static let retried = grace + "\napp_store/1 purchase.retry_started 33 transactionId=t1"

    static let rows = [
        Row(story: "start") {
            .period(start: try Story.day("1"), end: try Story.day("31"))
        },
        // Renewed, as is known later.
        Row(story: "start\napp_store/1 renew 31 t2 m 60") {
            .continued(start: try Story.day("31"), end: try Story.day("60"))
        },
        // Of several that follow, the last.
        Row(story: "start\napp_store/1 renew 31 t2 m 60\napp_store/1 renew 60 t3 m 90") {
            .continued(start: try Story.day("60"), end: try Story.day("90"))
        },
        // The later period is taken back before its end.
        Row(
            story: "start\napp_store/1 renew 31 t2 m 60\n"
                + "app_store/1 revocation.refunded 40 transactionId=t2"
        ) {
            .continued(start: try Story.day("31"), end: try Story.day("40"))
        },
        Row(story: "start\n@ann grant.given 20 grantId=g tier=pro expiresAt=50") {
            .continued(start: try Story.day("20"), end: try Story.day("50"))
        },
        Row(story: "start\n@ann trial.started 28 trialId=week") {
            .continued(start: try Story.day("28"), end: try Story.day("35"))
        },
        Row(
            story: "start\napp_store/2 buy 20 t9 life\napp_store/2 ok 20\n"
                + "@ann claim 20 app_store/2"
        ) {
            .continued(start: try Story.day("20"), end: nil)
        },
        Row(story: grace) { .grace(until: try Story.day("35")) },
        Row(story: grace, day: "32") { .grace(until: try Story.day("35")) },
        // A retry ends the grace early.
        Row(story: retried, day: "32") { .grace(until: try Story.day("33")) },
        Row(
            story: "catalog 1 policy={\"renewalLeewaySeconds\":86400}\n"
                + "app_store/1 buy 1 t1 m 31\napp_store/1 ok 1\n@ann claim 1 app_store/1"
        ) {
            .leeway(until: try Story.day("32"))
        },
        // A withdrawal ends the grant early.
        Row(
            story: "catalog 1\n@ann grant.given 1 grantId=g tier=pro expiresAt=30\n"
                + "@ann grant.withdrawn 9 grantId=g"
        ) {
            .granted(start: try Story.day("1"), end: try Story.day("9"))
        },
    ]

    // row Z2
    @Test(arguments: rows)
    func `the reason for a yes lasts as long as the yes`(_ row: Row) throws {
        let explanation = try explained(row.story, row.day)
        #expect(explanation.isAllowed)
        #expect(try explanation.cause?.effect == row.cause())
    }

    // What the store gave stands in the explanation of a no, beside when it ended.
    @Test func `a grace that a retry cut short is told as given and as ended`() throws {
        let explanation = try explained(Self.retried, "34")
        #expect(!explanation.isAllowed)
        let effects = explanation.steps.map(\.effect)
        #expect(effects.contains(.grace(until: try Story.day("35"))))
        #expect(effects.contains(.graceEnded(at: try Story.day("33"))))
    }

    private func explained(_ story: String, _ day: String) throws -> Explanation {
        let question = ExplainedQuestion(
            log: try Story(story).log,
            customer: "ann",
            at: try Story.day(day),
            feature: "f1"
        )
        #expect(question.faults.isEmpty, "\(question.faults)")
        return try #require(question.explanation)
    }
}
