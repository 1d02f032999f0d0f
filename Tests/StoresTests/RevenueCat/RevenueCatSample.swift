import Encodings
import Entitlements
import Stores
import Testing

/// One lifecycle event to vary, and a short form of what it comes to.
enum RevenueCatSample {
    /// Members of a subscription's second period, without a type.
    private static let base = """
        {"id":"e1","event_timestamp_ms":1767225660000,"app_user_id":"u1","aliases":["u1"],
        "original_app_user_id":"u1","product_id":"pro:monthly","period_type":"NORMAL",
        "purchased_at_ms":1767225600000,"expiration_at_ms":1769904000000,"store":"PLAY_STORE",
        "environment":"PRODUCTION","transaction_id":"t2","original_transaction_id":"o1"}
        """

    /// Short names of the base's instants.
    private static let labels = [
        ("2026-01-01T00:01:00.000Z", "S"),  // stated
        ("2026-01-01T00:00:00.000Z", "P"),  // purchased
        ("2026-02-01T00:00:00.000Z", "E"),  // end
        ("2026-02-08T00:00:00.000Z", "G"),  // grace's end
    ]

    /// The base with members replaced or added.
    static func event(_ type: String, _ changes: String = "") throws -> JSONValue {
        let base = try JSONValue(parsing: Array(base.utf8)).members ?? []
        let changed = try JSONValue(parsing: Array("{\(changes)}".utf8)).members ?? []
        let names = Set(changed.map(\.name))
        return .object(
            [JSONMember("type", .string(type))] + base.filter { !names.contains($0.name) } + changed
        )
    }

    /// The mapping's outcome, with the domain's tables held by every event of it.
    static func submission(_ event: JSONValue) throws -> Submission {
        let body = Array(event.description.utf8)
        let webhook = try UnverifiedRevenueCatWebhook.reading(event).get()
        let submission = RevenueCatMapping.submission(
            for: webhook.trusting(.authenticatedRequest, receivedAt: AppStoreSample.now),
            body: body
        )
        try check(submission)
        #expect(submission.evidence == body)
        return submission
    }

    /// Each event reads back as itself (Model, "Events"), and something is always kept.
    static func check(_ submission: Submission) throws {
        #expect(!submission.events.isEmpty)
        #expect(submission.nature != .request)
        for (place, event) in submission.events.enumerated() {
            let recorded = RecordedEvent(sequence: 0, recordedAt: event.observedAt, event: event)
            #expect(try Event(validating: recorded.json) == event)
            #expect(event.environment == submission.environment)
            #expect(event.source == "revenuecat")
            #expect(event.id == submission.id + (place == 0 ? "" : "#\(place + 1)"))
        }
    }

    /// `type subject@time {data}` for each event, instants by their labels, without its account.
    static func lines(_ submission: Submission) -> [String] {
        submission.events.map { event in
            let data = JSONValue.object(
                (event.dataJSON.members ?? []).filter {
                    !["observedAt", "account"].contains($0.name)
                }
            )
            let line = "\(event.kind.name) \(event.subject)@\(event.time) \(data)"
            return labels.reduce(line) { $0.replacing($1.0, with: $1.1) }
                .replacing("purchase/play_store/o1", with: "o1")
        }
    }
}
