import Encodings
import Entitlements
import ModelSupport
import Stores
import Testing

struct `A webhook body of RevenueCat` {
    static let path = "revenuecat/peer-scenarios/skyhook-envelopes.json"

    /// What each malformed envelope of the vectors is refused with.
    static let refusals: [String: (code: SignalRefusal.Code, path: String)] = [
        "null-body": (.malformed, ""), "empty-object": (.missingField, "event"),
        "api-version-null": (.invalidValue, "api_version"),
        "api-version-33-chars": (.outOfRange, "api_version"),
        "event-null": (.invalidValue, "event"), "id-null": (.invalidValue, "event.id"),
        "id-empty": (.invalidValue, "event.id"), "type-null": (.invalidValue, "event.type"),
        "type-empty": (.invalidValue, "event.type"),
        "type-underscores": (.invalidValue, "event.type"),
        "timestamp-string": (.invalidValue, "event.event_timestamp_ms"),
    ]

    /// What a peer refuses and we keep: an absurd time loses no signal (Stores, rule 6).
    static let noted: Set<String> = [
        "timestamp-negative", "timestamp-year-10000", "timestamp-max-safe-integer",
    ]

    /// What the accepted envelopes come to that are not simply noted under their type's name.
    static let meanings: [String: String] = [
        "full-0-CANCELLATION": "revocation.refunded", "full-2-TRANSFER": "customer.transferred",
        "full-3-PURCHASE_REDEEMED": "customer.transferred",
    ]

    @Test(.enabled(if: Vectors.arePresent, "\(Vectors.absence)"))
    func `is refused with a code and a path if a peer refuses it`() throws {
        let cases = try #require(try Vectors.json(Self.path)["negative"]?.array)
        #expect(cases.count == 14)
        for vector in cases {
            let id = try #require(vector["id"]?.string)
            guard !Self.noted.contains(id) else {
                let submission = try RevenueCatSample.submission(try #require(vector["body"]))
                #expect(submission.events.map(\.kind) == [.signalNoted], "\(id)")
                continue
            }
            let outcome = UnverifiedRevenueCatWebhook.reading(try #require(vector["body"]))
            guard case .failure(let refusal) = outcome else {
                Issue.record("\(id) is accepted")
                continue
            }
            #expect(refusal.code == Self.refusals[id]?.code, "\(id)")
            #expect(refusal.path == Self.refusals[id]?.path, "\(id)")
        }
    }

    @Test(.enabled(if: Vectors.arePresent, "\(Vectors.absence)"))
    func `is kept if a peer accepts it, and noted unless it says enough`() throws {
        let cases = try #require(try Vectors.json(Self.path)["positive"]?.array)
        #expect(cases.count == 37)
        for vector in cases {
            let id = try #require(vector["id"]?.string)
            let submission = try RevenueCatSample.submission(try #require(vector["body"]))
            #expect(submission.id == "evt_123", "\(id)")
            let kinds = submission.events.map(\.kind.name)
            #expect(kinds == [Self.meanings[id] ?? "signal.noted"], "\(id)")
        }
    }

    // trap 8: a paywall's author may call an event TRANSFER
    @Test(.enabled(if: Vectors.arePresent, "\(Vectors.absence)"))
    func `is no transfer if a paywall made it`() throws {
        let cases = try #require(try Vectors.json(Self.path)["positive"]?.array)
        let vector = try #require(cases.first { $0["id"]?.string == "full-7-TRANSFER" })
        let submission = try RevenueCatSample.submission(try #require(vector["body"]))
        #expect(submission.events.map(\.subject) == [.store("revenuecat")])
        #expect(submission.links.isEmpty)
    }

    @Test func `may be a bare event`() throws {
        let bare = try RevenueCatSample.event("TEST")
        let enveloped = JSONValue.members(["api_version": "1.0", "event": bare])
        let (left, right) = (
            UnverifiedRevenueCatWebhook.reading(bare),
            UnverifiedRevenueCatWebhook.reading(enveloped)
        )
        #expect(try left.get() == right.get())
    }

    @Test(arguments: [
        #"{"id":"","type":"A","event_timestamp_ms":1785175200000}"#: "id",
        #"{"id":"a\u0000","type":"A","event_timestamp_ms":1785175200000}"#: "id",
        #"{"id":"a","type":"A"}"#: "event_timestamp_ms",
        #"{"id":"a","type":"A","event_timestamp_ms":"1785175200000"}"#: "event_timestamp_ms",
        "{": "", "[]": "",
    ])
    func `names the path of its fault`(_ body: String, _ path: String) {
        let outcome = UnverifiedRevenueCatWebhook.reading(bytes: Array(body.utf8))
        guard case .failure(let refusal) = outcome else {
            Issue.record("accepted")
            return
        }
        #expect(refusal.path == path)
    }

    // Stores, rule 6; trap 2: RevenueCat's own sample of a transfer is of the year 4466
    @Test(arguments: [
        "78767225660000", "1785175200000.5", "1e99999999999999999999", "-1",
        // A day and a millisecond after it arrived.
        "1798848000001",
    ])
    func `is noted at its arrival if its time is absurd`(_ time: String) throws {
        let transfer = #""transferred_from":["a"],"transferred_to":["b"],"event_timestamp_ms":"#
        let event = try RevenueCatSample.event("TRANSFER", transfer + time)
        let submission = try RevenueCatSample.submission(event)
        let noted = try #require(submission.events.first)
        #expect(submission.events.count == 1 && noted.kind == .signalNoted)
        #expect(noted.time == AppStoreSample.now && noted.observedAt == AppStoreSample.now)
        #expect(noted.data.text(.detail) == "event_timestamp_ms is absurd")
        #expect(submission.links.isEmpty && submission.accounts.isEmpty)
    }

    @Test func `may be ahead of the clock by a day`() throws {
        let event = try RevenueCatSample.event("RENEWAL", #""event_timestamp_ms":1798848000000"#)
        #expect(try RevenueCatSample.submission(event).events.first?.kind == .purchaseRenewed)
    }

    // Stores, rule 6
    @Test func `is not lost for a text that is not well-formed`() throws {
        let event = try RevenueCatSample.event("RENEWAL", #""country_code":"DE""#).description
        let broken =
            event.replacing(#""DE""#, with: #""D\ud83dE""#).dropLast()
            + #","\udc00":1,"\udc00":2,"subscriber_attributes":{"$name":{"value":"Ann \ud83d"}}}"#
        let body = Array(broken.utf8)
        let webhook = try UnverifiedRevenueCatWebhook.reading(bytes: body).get()
        let submission = RevenueCatMapping.submission(
            for: webhook.trusting(.authenticatedRequest, receivedAt: AppStoreSample.now),
            body: body
        )
        #expect(submission.events.first?.kind == .purchaseRenewed)
        #expect(submission.events.first?.data.text(.storefront) == nil)
        // Whom it names is found, so that the evidence is sealed under them.
        #expect(submission.named.contains(.customer("u1")) && submission.evidence == body)
    }

    // Stores, rule 6: two broken ids are not one
    @Test func `names nobody by a text that is not well-formed`() throws {
        let event = try RevenueCatSample.event("RENEWAL").description
        let body = Array(
            event.replacing(#""app_user_id":"u1""#, with: #""app_user_id":"\ud83d""#).utf8
        )
        let webhook = try UnverifiedRevenueCatWebhook.reading(bytes: body).get()
        let submission = RevenueCatMapping.submission(
            for: webhook.trusting(.authenticatedRequest, receivedAt: AppStoreSample.now),
            body: body
        )
        #expect(submission.accounts.isEmpty)
    }

    @Test func `says by which channel it is trusted`() throws {
        let body = try RevenueCatSample.event("TEST")
        let webhook = try UnverifiedRevenueCatWebhook.reading(body).get()
        let trusted = webhook.trusting(.operatorImport, receivedAt: AppStoreSample.now)
        #expect(trusted.channel == .operatorImport)
        #expect(trusted.signalID == "e1")
        #expect(trusted.type == "TEST")
    }
}
