import Encodings
import Entitlements
import ModelSupport
import StoreSimulator
import Stores
import Testing

/// What Google Play says, to vary, and a short form of what it comes to.
enum PlaySample {
    static let store = Result { try SimulatedPlayStore() }
    static let start = Instant(milliseconds: 1_767_225_600_000)
    static let end = Instant(milliseconds: 1_769_904_000_000)
    static let told = Instant(milliseconds: 1_767_225_660_000)
    static let token = "t1"

    /// Short names of the instants.
    private static let labels = [
        ("2026-01-01T00:00:00.000Z", "P"),  // bought
        ("2026-01-01T00:01:00.000Z", "S"),  // said
        ("2026-02-01T00:00:00.000Z", "E"),  // end
        ("2026-02-08T00:00:00.000Z", "G"),  // another date
    ]

    static func configuration() throws -> PlayConfiguration {
        let store = try store.get()
        return PlayConfiguration(
            packageNames: [Name(store.packageName)],
            licenseKeys: [try #require(PlayLicenseKey(base64: store.licenseKeyText))]
        )
    }

    static func json(_ text: String) throws -> JSONValue {
        try JSONValue(parsing: Array(text.utf8))
    }

    /// What one message comes to, each event of it held by the domain's tables.
    static func submission(_ json: JSONValue) throws -> Submission {
        let submission = try outcome(json).get()
        for (place, event) in submission.events.enumerated() {
            let recorded = RecordedEvent(sequence: 0, recordedAt: told, event: event)
            #expect(try Event(validating: recorded.json) == event)
            #expect(event.source == "play_store")
            #expect(event.id == submission.id + (place == 0 ? "" : "#\(place + 1)"))
        }
        #expect(submission.nature != .request)
        return submission
    }

    static func outcome(_ json: JSONValue) throws -> PlayImport.Outcome {
        let outcomes = PlayImport.outcomes(
            of: json,
            configuration: try configuration(),
            now: told
        )
        return try #require(outcomes.count == 1 ? outcomes[0] : nil)
    }

    /// Why a message is refused.
    static func refusal(_ json: JSONValue) throws -> SignalRefusal? {
        guard case .failure(let refusal) = try outcome(json) else { return nil }
        return refusal
    }

    /// `type subject@time {data}` for each event, instants by their labels.
    static func lines(_ submission: Submission) -> [String] {
        submission.events.map { event in
            let data = JSONValue.object(
                (event.dataJSON.members ?? []).filter { $0.name != "observedAt" }
            )
            let line = "\(event.kind.name) \(event.subject)@\(event.time) \(data)"
            return labels.reduce(line) { $0.replacing($1.0, with: $1.1) }
                .replacing("purchase/play_store/t1", with: "t1")
        }
    }

    /// A subscription's answer after a notification of a type; nil: nothing hinted at it.
    static func subscription(
        _ state: String,
        after type: Int?,
        order: String = "GPA.1",
        end: Instant = end,
        at time: Instant = told,
        _ changes: String = "{}",
        item: String = "{}"
    ) throws -> JSONValue {
        let store = try store.get()
        let push = type.map { store.push(subscription: $0, token: token, id: "m1", at: time) }
        let state = JSONMember("subscriptionState", .string("SUBSCRIPTION_STATE_" + state))
        let changes = try json(changes).members ?? []
        let answer = store.subscription(
            order: order,
            start: start,
            end: end,
            .object([state, JSONMember("acknowledgementState", .null)] + changes),
            item: try json(item)
        )
        return store.answer(answer, of: token, at: time, after: push)
    }
}
