import Entitlements
import Testing

/// Since when the ledger knows what is told (T4): stores tell most things again and again (row Z2).
@Suite struct FirstToldTests {
    /// A story, a step of its explanation by the event that it names, and the first event that says so.
    struct Row: Sendable, CustomTestStringConvertible {
        var story: String
        var effect: String
        var sequence: UInt64
        /// Nil: the one that is named.
        var first: UInt64?

        var testDescription: String { effect + ": " + story.replacing("\n", with: "; ") }
    }

    private static let refund = "app_store/1 revocation.refunded 10"
    private static let grace =
        "app_store/1 purchase.grace_started 12 transactionId=t1 graceUntil=40"

    static let rows = [
        Row(story: "start\napp_store/1 renew 1~9 t1 m 31", effect: "period", sequence: 4, first: 1),
        // What the newest statement says is new.
        Row(story: "start\napp_store/1 renew 1~9 t1 m 40", effect: "period", sequence: 4),
        Row(story: "start\napp_store/1 renew 1~9 t1 y 31", effect: "period", sequence: 4),
        Row(story: "start\napp_store/1 ok 9", effect: "verified", sequence: 4, first: 2),
        // In between it was known to have failed.
        Row(
            story: "start\napp_store/1 bad 5\napp_store/1 ok 9\napp_store/1 ok 10",
            effect: "verified",
            sequence: 6,
            first: 5
        ),
        Row(
            story: "start\napp_store/1 bad 5\napp_store/1 bad 6",
            effect: "failedVerification",
            sequence: 5,
            first: 4
        ),
        Row(story: "start\n\(refund)\n\(refund)", effect: "revoked", sequence: 5, first: 4),
        // Two that were taken back at two times.
        Row(
            story: "start\napp_store/1 revocation.refunded 9\n\(refund)",
            effect: "revoked",
            sequence: 5
        ),
        Row(story: "start\n\(grace)\n\(grace)", effect: "grace", sequence: 5, first: 4),
        Row(story: "start\n@ann claim 9 app_store/1", effect: "owned", sequence: 4, first: 3),
        // In between it was another's.
        Row(
            story: "start\n@bob claim 5 app_store/1\n@ann claim 9 app_store/1",
            effect: "owned",
            sequence: 5
        ),
        // Its end moved; whose it is was known.
        Row(
            story: "catalog 1\napp_store/1 buy 1 t1 m 31 account=ann\napp_store/1 ok 1\n"
                + "app_store/1 renew 1~9 t1 m 40 account=ann",
            effect: "owned",
            sequence: 3,
            first: 1
        ),
        // An older period is told later: a later one had named the owner.
        Row(
            story: "catalog 1\napp_store/1 renew 10 t2 m 40 account=ann\napp_store/1 ok 1\n"
                + "app_store/1 buy 1 t1 m 10 account=ann",
            effect: "owned",
            sequence: 3,
            first: 1
        ),
        // The store names whose it is each time.
        Row(
            story: "catalog 1\napp_store/1 buy 1 t1 m 31 account=ann\napp_store/1 ok 1\n"
                + "app_store/1 renew 1~9 t1 m 31 account=ann",
            effect: "owned",
            sequence: 3,
            first: 1
        ),
        // At first it did not.
        Row(
            story: "catalog 1\napp_store/1 buy 1 t1 m 31\napp_store/1 ok 1\n"
                + "app_store/1 renew 1~9 t1 m 31 account=ann",
            effect: "owned",
            sequence: 3
        ),
    ]

    // rows Z1, Z2
    @Test(arguments: rows)
    func `a step names the first event that says so beside the newest`(_ row: Row) throws {
        let question = ExplainedQuestion(
            log: try Story(row.story).log,
            customer: "ann",
            at: try Story.day("20"),
            feature: "f1"
        )
        #expect(question.faults.isEmpty, "\(question.faults)")
        let explanation = try #require(question.explanation)
        let step = explanation.steps.first {
            "\($0.effect)".hasPrefix(row.effect) && $0.sequence == row.sequence
        }
        #expect(try #require(step, "\(explanation.steps)").firstSequence == row.first)
        #expect(row.first.map { explanation.markedSequences.contains($0) } ?? true)
    }
}
