import Crypto
import Encodings
import EntitlementLedger
import Entitlements
import HTTPTypes
import Stores
import Testing

@testable import LedgerServer

/// RevenueCat's webhooks (Stores, rule 4).
struct `RevenueCat's webhooks over HTTP` {
    private static let path = "/v1/signals/revenuecat"
    private static let hmacSecret = Array("a secret for the HMAC".utf8)

    private static func body(_ id: String) -> String {
        """
        {"api_version":"1.0","event":{"id":"\(id)","type":"INITIAL_PURCHASE",\
        "event_timestamp_ms":\(AppStoreWorld.start.milliseconds),"app_user_id":"someone-known",\
        "aliases":["someone-known"],"original_app_user_id":"someone-known",\
        "product_id":"com.example.app.pro.month","period_type":"NORMAL",\
        "purchased_at_ms":\(AppStoreWorld.start.milliseconds),\
        "expiration_at_ms":\(AppStoreWorld.end.milliseconds),"store":"APP_STORE",\
        "environment":"PRODUCTION","transaction_id":"4000000100000001",\
        "original_transaction_id":"4000000100000001"}}
        """
    }

    private static func setup() -> TestServer.Setup {
        var setup = TestServer.Setup()
        setup.stores.revenueCat = RevenueCatSecret.authentication
        return setup
    }

    private static func post(
        _ server: TestServer,
        _ body: String,
        secret: String? = RevenueCatSecret.header,
        signature: String? = nil
    ) async throws -> TestAnswer {
        var headers = HTTPFields()
        headers[.authorization] = secret
        headers[.revenueCatSignature] = signature
        return try await server.send(.post, path, headers: headers, body: body)
    }

    @Test func `count by their secret, once each`() async throws {
        try await TestServer.with(Self.setup()) { server in
            try server.publishCatalog()
            let first = try await Self.post(server, Self.body("e1"))
            #expect(first.status == 200 && first.json["outcome"] == "appended")
            #expect(try await server.has("someone-known", "export") == true)
            let size = try server.ledger.questions.size()
            let again = try await Self.post(server, Self.body("e1"))
            #expect(again.status == 200 && again.json["outcome"] == "duplicate")
            #expect(try server.ledger.questions.size() == size)
        }
    }

    @Test(arguments: [nil, "", "Bearer webhook-secre", "bearer webhook-secret", "webhook-secret"])
    func `do not count by another one`(_ secret: String?) async throws {
        try await TestServer.with(Self.setup()) { server in
            for _ in 0..<2 {
                let answer = try await Self.post(server, Self.body("e1"), secret: secret)
                #expect(answer.status == 401 && answer.code == "unauthenticated")
            }
            try Self.expectNote(server)
        }
    }

    // Stores, rule 5: nothing is kept but that it was refused, once an hour
    private static func expectNote(_ server: TestServer) throws {
        let events = try server.events()
        #expect(events.map { $0["subject"] } == ["store/revenuecat"])
        #expect(events.first?["data"]?["name"] == "verification_refused")
        #expect(events.first?["data"]?["detail"] == "code unauthenticated, count 1")
    }

    @Test func `count by an HMAC over body and time`() async throws {
        var setup = TestServer.Setup()
        setup.stores.revenueCat = RevenueCatAuthentication(
            authorization: nil,
            hmacSecret: Self.hmacSecret
        )
        try await TestServer.with(setup) { server in
            let body = Self.body("e1")
            let signature = Self.signature(body, at: noon)
            let forged = try await Self.post(server, Self.body("e2"), signature: signature)
            #expect(forged.status == 401)
            let old = Self.signature(body, at: noon.plus(seconds: -3600))
            #expect(try await Self.post(server, body, signature: old).status == 401)
            #expect(try await Self.post(server, body, signature: nil).status == 401)
            try Self.expectNote(server)
            let answer = try await Self.post(server, body, signature: signature)
            #expect(answer.status == 200 && answer.json["outcome"] == "appended")
        }
    }

    private static func signature(_ body: String, at instant: Instant) -> String {
        let time = String(instant.milliseconds / 1000)
        let code = HMAC<SHA256>.authenticationCode(
            for: Array((time + "." + body).utf8),
            using: SymmetricKey(data: hmacSecret)
        )
        let digits = code.map { String(UInt16($0) + 256, radix: 16).dropFirst() }.joined()
        return "t=\(time),v1=\(digits)"
    }

    // row 9.6
    @Test(arguments: [false, true])
    func `with a wrong secret count as failures, and cost the right one nothing`(
        _ isHMAC: Bool
    ) async throws {
        var setup = isHMAC ? TestServer.Setup() : Self.setup()
        if isHMAC {
            setup.stores.revenueCat = RevenueCatAuthentication(
                authorization: nil,
                hmacSecret: Self.hmacSecret
            )
        }
        setup.quotas = [.failures: RateLimitQuota(requests: 2, windowSeconds: 3600)]
            .compactMapValues { $0 }
        try await TestServer.with(setup) { server in
            let body = Self.body("e1")
            func post(_ isRight: Bool) async throws -> TestAnswer {
                let signed = Self.signature(isRight ? body : body + " ", at: noon)
                return try await Self.post(
                    server,
                    body,
                    secret: isRight ? RevenueCatSecret.header : "Bearer another-secret",
                    signature: isHMAC ? signed : nil
                )
            }
            for status in [401, 401, 429] { #expect(try await post(false).status == status) }
            let right = try await post(true)
            #expect(right.json["outcome"] == "appended")
        }
    }

    @Test func `count by a key that may ingest, with or without a secret of their own`()
        async throws
    {
        for setup in [Self.setup(), TestServer.Setup()] {
            try await TestServer.with(setup) { server in
                let answer = try await server.post(Self.path, Self.body("e1"), as: .ingest)
                #expect(answer.status == 200 && answer.json["outcome"] == "appended")
                let other = try await server.post(Self.path, Self.body("e2"), as: .write)
                #expect(other.status == (setup.stores.revenueCat == nil ? 503 : 401))
            }
        }
    }

    @Test(arguments: [
        ("", "malformed"), ("{", "malformed"), ("[]", "malformed"), ("{}", "missing_field"),
        (#"{"api_version":"1.0","event":{"id":"e1"}}"#, "missing_field"),
        (#"{"api_version":1,"event":{"id":"e1","type":"TEST"}}"#, "invalid_value"),
    ])
    func `of another form are refused for good, and take nothing away`(
        _ body: String,
        _ code: String
    ) async throws {
        try await TestServer.with(Self.setup()) { server in
            try server.publishCatalog()
            _ = try await Self.post(server, Self.body("e1"))
            let answer = try await Self.post(server, body)
            #expect(answer.status == 400 && answer.code == code, "\(answer.body)")
            #expect(try await server.has("someone-known", "export") == true)
        }
    }

    @Test func `are asked for again by a server that does not know RevenueCat`() async throws {
        try await TestServer.with { server in
            let answer = try await Self.post(server, Self.body("e1"))
            #expect(answer.status == 503 && answer.code == "not_configured")
        }
    }
}
