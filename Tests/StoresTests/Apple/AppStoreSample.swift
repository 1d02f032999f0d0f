import Encodings
import Entitlements
import StoreSimulator
import Stores
import Testing

/// A store of the tests' own, messages of it to vary, and a short form of what they come to.
enum AppStoreSample {
    /// Signs for all tests: keys cost time.
    static let authority = Result { try SigningAuthority(validity: validity) }
    static let validity = instant("2025-01-01")..<instant("2030-01-02")

    /// The app's messages from production.
    static func store(_ environment: String = "Production") throws -> SimulatedAppStore {
        SimulatedAppStore(authority: try authority.get(), environment: environment)
    }

    /// Accepts the store's messages, and trusts its authority for it.
    static func verifier(
        _ change: (inout AppStoreConfiguration) -> Void = { _ in }
    ) throws -> AppStoreVerifier {
        let store = try store()
        var configuration = AppStoreConfiguration(
            bundleIDs: [store.bundleID],
            appAppleID: store.appAppleID,
            roots: [store.authority.root]
        )
        change(&configuration)
        return try AppStoreVerifier(configuration)
    }

    /// After every sample was signed.
    static let now = instant("2027-01-01")
    /// The sample period's start.
    static let start = instant("2026-01-01")

    static func instant(_ date: String) -> Instant {
        Instant(dateOnly: date) ?? Instant(milliseconds: 0)
    }

    /// Short names of the samples' instants.
    static let labels = [
        ("2015-02-17T21:00:00.000Z", "W"),  // said weakly of the sample period
        ("2026-01-01T00:00:00.000Z", "P"),  // purchased
        ("2026-01-10T00:00:00.000Z", "R"),  // revoked
        ("2026-01-11T00:00:00.000Z", "S"),  // signed
        ("2026-01-31T00:00:00.000Z", "E"),  // end
        ("2026-02-08T00:00:00.000Z", "G"),  // grace's end
        ("2026-02-09T00:00:00.000Z", "L"),  // signed late
    ]

    static func json(_ members: String) throws -> JSONValue {
        try JSONValue(parsing: Array("{\(members)}".utf8))
    }

    /// Members by which a part is signed on a day.
    static func signed(_ day: String, _ members: String) throws -> JSONValue {
        let date = #""signedDate":\#(instant(day).milliseconds)"#
        return try json(members.isEmpty ? date : "\(date),\(members)")
    }

    /// A whole notification, verified, and what it comes to, with the domain's tables held by
    /// every event of it.
    static func submission(
        _ type: String,
        _ subtype: String? = nil,
        signed day: String = "2026-01-11",
        transaction: String? = "",
        renewal: String? = "",
        _ changes: String = ""
    ) async throws -> Submission {
        let store = try store()
        let payload = store.notificationPayload(
            type,
            subtype,
            signedAt: instant(day),
            transaction: try transaction.map {
                try store.transaction(start: start, signed(day, $0))
            },
            renewalInfo: try renewal.map { try store.renewalInfo(start: start, signed(day, $0)) },
            try json(changes)
        )
        let jws = try store.authority.sign(payload)
        let notification = try await verifier().notification(jws, now: now).get()
        let submission = AppStoreMapping.submission(for: notification, body: jws)
        try check(submission)
        #expect(submission.evidence == jws)
        #expect(submission.id == notification.signalID)
        return submission
    }

    /// Each event reads back as itself (Model, "Events"), and something is always kept.
    static func check(_ submission: Submission) throws {
        #expect(!submission.events.isEmpty)
        #expect(submission.nature == .signal)
        for (place, event) in submission.events.enumerated() {
            let recorded = RecordedEvent(sequence: 0, recordedAt: event.observedAt, event: event)
            #expect(try Event(validating: recorded.json) == event)
            #expect(event.environment == submission.environment)
            #expect(event.source == "app_store")
            #expect(event.id == submission.id + (place == 0 ? "" : "#\(place + 1)"))
        }
    }

    /// `type subject@time {data}` for each event, instants by their labels.
    static func lines(_ submission: Submission) -> [String] {
        submission.events.map { event in
            let line = "\(event.kind.name) \(event.subject)@\(event.time) \(event.dataJSON)"
            return labels.reduce(line) { $0.replacing($1.0, with: $1.1) }
                .replacing("purchase/app_store/2000000100000001", with: "o1")
                .replacing("2000000100000001", with: "t1")
                .replacing("com.example.app.pro.month", with: "pro")
        }
    }
}
