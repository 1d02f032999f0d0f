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
        "timestamp-negative": (.outOfRange, "event.event_timestamp_ms"),
        "timestamp-year-10000": (.outOfRange, "event.event_timestamp_ms"),
        "timestamp-max-safe-integer": (.outOfRange, "event.event_timestamp_ms"),
        "timestamp-string": (.invalidValue, "event.event_timestamp_ms"),
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
        #"{"id":"a","type":"A","event_timestamp_ms":1785175200000.5}"#: "event_timestamp_ms",
        #"{"id":"a","type":"A","event_timestamp_ms":1e99999999999999999999}"#:
            "event_timestamp_ms",
        #"{"id":"a","type":"A","event_timestamp_ms":78767225660000}"#:  // trap 2: year 4466
            "event_timestamp_ms",
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

    @Test func `says by which channel it is trusted`() throws {
        let body = try RevenueCatSample.event("TEST")
        let webhook = try UnverifiedRevenueCatWebhook.reading(body).get()
        let trusted = webhook.trusting(.operatorImport)
        #expect(trusted.channel == .operatorImport)
        #expect(trusted.signalID == "e1")
        #expect(trusted.type == "TEST")
    }
}
