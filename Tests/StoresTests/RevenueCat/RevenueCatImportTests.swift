import Encodings
import Entitlements
import ModelSupport
import Stores
import Testing

// row Z14
struct `An import of RevenueCat's history` {
    @Test func `reads each item by itself`() throws {
        let good = try RevenueCatSample.event("RENEWAL")
        let json = JSONValue.array([
            good, .null, .members(["api_version": "1.0", "event": good]),
            .members(["event": .members(["id": "a", "type": "A"])]),
        ])
        let outcomes = RevenueCatImport.outcomes(of: json, now: AppStoreSample.now)
        #expect(outcomes.count == 4)
        let (first, third) = (try outcomes[0].get(), try outcomes[2].get())
        #expect(first.events == third.events)
        #expect(first.evidence == Array(good.description.utf8))
        guard case .failure(let second) = outcomes[1], case .failure(let fourth) = outcomes[3]
        else {
            Issue.record("accepted")
            return
        }
        #expect((second.code, second.path) == (.malformed, "[1]"))
        #expect((fourth.code, fourth.path) == (.missingField, "[3].event.event_timestamp_ms"))
    }

    @Test func `keeps a single body's own bytes`() throws {
        let text = " " + (try RevenueCatSample.event("RENEWAL").description)
        let bytes = Array(text.utf8)
        let outcomes = RevenueCatImport.outcomes(
            of: try JSONValue(parsing: bytes),
            body: bytes,
            now: AppStoreSample.now
        )
        #expect(try outcomes.map { try $0.get().evidence } == [bytes])
    }

    @Test(arguments: [
        (#"{"api_version":"1.0","event":{"type":"TEST","event_timestamp_ms":1}}"#, true),
        (#"{"type":"TEST","event_timestamp_ms":1}"#, true),
        (#"[{"type":"TEST","event_timestamp_ms":1}]"#, true), ("[]", false), ("null", false),
        (#"{"specversion":"1.0","id":"a","type":"signal.noted"}"#, false),
        (#"{"signedPayload":"a.b.c"}"#, false), (#"{"event":null}"#, false),
    ])
    func `knows its format`(_ text: String, _ expected: Bool) throws {
        let json = try JSONValue(parsing: Array(text.utf8))
        #expect(RevenueCatImport.looksLikeRevenueCat(json) == expected)
    }

    @Test(.enabled(if: Vectors.arePresent, "\(Vectors.absence)"))
    func `reads a bare purchase of a Play subscription`() throws {
        let submission = try Self.vector("revcatgo-INITIAL_PURCHASE-play.json")
        #expect(submission.id == "00A23FAE-0DB8-42E2-A8DC-00000BCDF0D6")
        #expect(submission.environment == .sandbox)
        #expect(
            RevenueCatSample.lines(submission) == [
                "purchase.completed purchase/play_store/GPA.0000-4204-5621-00000@"
                    + "2020-11-13T08:32:10.385Z "
                    + #"{"transactionId":"GPA.0000-4204-5621-00000","#
                    + #""productId":"my.subscription.sandbox","productKind":"auto_renewable","#
                    + #""expiresAt":"2020-11-13T08:38:50.251Z","priceMicros":550000000,"#
                    + #""currencyCode":"USD"}"#,
                "verification.passed purchase/play_store/GPA.0000-4204-5621-00000@"
                    + "2020-11-13T08:32:10.385Z "
                    + #"{"transactionId":"GPA.0000-4204-5621-00000","method":"channel_secret"}"#,
                "purchase.renewal_changed purchase/play_store/GPA.0000-4204-5621-00000@"
                    + #"2020-11-13T08:32:10.385Z {"autoRenew":true}"#,
            ]
        )
        let id: CustomerID = "$RCAnonymousID:0000000000000000000000000000000b"
        #expect(submission.accounts == [id.text])
        #expect(submission.links.isEmpty)
    }

    @Test(.enabled(if: Vectors.arePresent, "\(Vectors.absence)"))
    func `reads a bare cancellation for a billing error`() throws {
        let submission = try Self.vector("revcatgo-CANCELLATION-play-billing-error.json")
        #expect(
            RevenueCatSample.lines(submission) == [
                "purchase.renewal_changed purchase/play_store/GPA.0000-4204-5621-00000@"
                    + #"2020-11-13T09:08:55.218Z {"reason":"billing_error","autoRenew":false}"#
            ]
        )
        // What is no sale gives no period, and so no account.
        #expect(submission.accounts.isEmpty)
    }

    @Test(.enabled(if: Vectors.arePresent, "\(Vectors.absence)"))
    func `reads an App Store purchase with its aliases`() throws {
        let submission = try Self.vector("skyhook-INITIAL_PURCHASE-appstore.json")
        #expect(submission.environment == .production)
        let period = try #require(submission.events.first)
        #expect(period.subject.description == "purchase/app_store/123456789012345")
        #expect(period.time.milliseconds == 1_658_726_374_000)
        #expect(period.observedAt.milliseconds == 1_658_726_378_679)
        #expect(period.data.instant(.expiresAt)?.milliseconds == 1_659_331_174_000)
        #expect(period.data.integer(.priceMicros) == 4_990_000)
        #expect(period.data.text(.currencyCode) == "USD")
        #expect(period.data.text(.ownership) == "purchased")
        #expect(period.data.text(.storefront) == "US")
        #expect(period.data.text(.offer) == nil)
        #expect(submission.accounts == ["1234567890"])
        #expect(
            submission.links.map(\.alias) == [
                "$RCAnonymousID:87c6049c58069238dce29853916d624c",
                "$RCAnonymousID:8069238d6049ce87cc529853916d624c",
            ]
        )
    }

    private static func vector(_ name: String) throws -> Submission {
        let path = "revenuecat/peer-scenarios/" + name
        let bytes = try Vectors.bytes(path)
        let json = try JSONValue(parsing: bytes)
        #expect(RevenueCatImport.looksLikeRevenueCat(json))
        let outcomes = RevenueCatImport.outcomes(of: json, body: bytes, now: AppStoreSample.now)
        let outcome = try #require(outcomes.first)
        let submission = try outcome.get()
        try RevenueCatSample.check(submission)
        return submission
    }
}
