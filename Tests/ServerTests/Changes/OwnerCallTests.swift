import Encodings
import EntitlementLedger
import Entitlements
import EventLog
import HTTPTypes
import Testing

@testable import LedgerServer

/// Transfers and releases by support (Stores, rule 7).
struct `Owners changed over HTTP` {
    private static let path = "/v1/purchases/app_store%2F100"

    /// A server whose `former-1` owns a running purchase.
    private static func with(
        _ body: @escaping @Sendable (TestServer) async throws -> Void
    ) async throws {
        try await TestServer.with { server in
            try server.publishCatalog()
            let name = PurchaseName(store: "app_store", originalID: "100")
            let subject = Subject.purchase(name)
            let period = EventData(
                .purchaseCompleted,
                [
                    .transactionID: .text("100"), .productID: .text("com.example.app.pro.month"),
                    .productKind: .text("auto_renewable"),
                    .expiresAt: .instant(noon.plus(seconds: 30 * 86_400)),
                ]
            )
            let verdict = EventData(.verificationPassed, [.method: .text("manual")])
            for (id, data) in [("p", period), ("v", verdict)] {
                let event = Event(
                    id: id,
                    source: Source.support,
                    subject: subject,
                    time: noon.plus(seconds: -86_400),
                    data: data
                )
                _ = try server.ledger.appender.record(Submission(event: event))
            }
            _ = try server.ledger.appender.claim(
                name,
                for: "former-1",
                EntitlementLedger.Request(
                    id: "c",
                    source: Source.app,
                    environment: .production
                )
            )
            server.clock.now = noon.plus(seconds: 60)
            try await body(server)
        }
    }

    private static func events(
        _ server: TestServer,
        of customer: CustomerID,
        _ kind: EventKind,
        expecting count: Int
    ) async throws -> [JSONValue] {
        var found: [JSONValue] = []
        // Accesses are written behind the answers.
        for _ in 0..<500 {
            found = []
            var filter = EventFilter(sequences: 0 ..< .max)
            filter.customer = customer
            filter.kind = kind
            try server.ledger.questions.events(filter) { _, event in
                found.append(event)
                return true
            }
            if found.count >= count { break }
            try await Task.sleep(for: .milliseconds(10))
        }
        return found
    }

    @Test func `move a purchase and say whose it was`() async throws {
        try await Self.with { server in
            let answer = try await server.post(
                Self.path + "/transfer",
                #"{"to":"next-12","reason":"ticket 12"}"#,
                as: .support
            )
            #expect(answer.status == 200 && answer.json["outcome"] == "appended")
            #expect(answer.json["formerOwner"] == "former-1")
            #expect(try await server.has("next-12", "export") == true)
            #expect(try await server.has("former-1", "export") == false)
            let again = try await server.post(
                Self.path + "/transfer",
                #"{"to":"next-12","reason":"ticket 12"}"#,
                as: .support
            )
            #expect(again.json["outcome"] == "known" && again.json["formerOwner"] == nil)
            let released = try await server.post(
                Self.path + "/release",
                #"{"reason":"ticket 13"}"#,
                as: .support
            )
            #expect(released.json["outcome"] == "appended")
            #expect(released.json["formerOwner"] == "next-12")
            #expect(try await server.has("next-12", "export") == false)
        }
    }

    @Test func `are noted for both whom they concern, by whom and why`() async throws {
        try await Self.with { server in
            _ = try await server.post(
                Self.path + "/transfer",
                #"{"to":"next-12","reason":"ticket 12"}"#,
                as: .support
            )
            for customer in ["former-1", "next-12"] as [CustomerID] {
                let noted = try await Self.events(server, of: customer, .accessLogged, expecting: 1)
                #expect(noted.map { $0["data"]?["action"] } == ["transferPurchase"])
                #expect(noted.map { $0["data"]?["reason"] } == ["ticket 12"])
                #expect(noted.allSatisfy { $0["data"]?["actor"]?.string != nil })
            }
        }
    }

    @Test func `are noted with the request's reason where the body has none`() async throws {
        try await Self.with { server in
            let claimed = try await server.post(
                Self.path + "/claim",
                #"{"customer":"former-1"}"#,
                as: .support,
                headers: [.accessReason: "ticket 14"]
            )
            #expect(claimed.status == 200, "\(claimed.body)")
            let noted = try await Self.events(server, of: "former-1", .accessLogged, expecting: 1)
            #expect(noted.map { $0["data"]?["action"] } == ["claimKnownPurchase"])
            #expect(noted.map { $0["data"]?["reason"] } == ["ticket 14"])
        }
    }

    // E1: Idempotency-Key
    @Test func `have one outcome for each key`() async throws {
        try await Self.with { server in
            var headers = HTTPFields()
            headers[.idempotencyKey] = "\"k\""
            func transfer(_ customer: String) async throws -> TestAnswer {
                try await server.post(
                    Self.path + "/transfer",
                    #"{"to":"\#(customer)","reason":"r"}"#,
                    as: .support,
                    headers: headers
                )
            }
            let first = try await transfer("next-12")
            let again = try await transfer("next-12")
            #expect(again.json["outcome"] == "duplicate")
            #expect(again.json["sequence"] == first.json["sequence"])
            let other = try await transfer("other-12")
            #expect(other.status == 422 && other.code == "idempotency_key_reused")
        }
    }

    // A purchase in a path is one segment.
    @Test(arguments: [
        ("/v1/purchases/app_store%2F101/release", #"{"reason":"r"}"#, 404, "unknown_purchase"),
        ("/v1/purchases/app_store/release", #"{"reason":"r"}"#, 404, "unknown_purchase"),
        ("/v1/purchases/app_store/100/release", #"{"reason":"r"}"#, 404, "not_found"),
        (path + "/release", "{}", 400, "missing_field"),
        (path + "/release", #"{"reason":""}"#, 400, "invalid_value"),
        (path + "/release", #"{"reason":7}"#, 400, "invalid_value"),
        (path + "/release", #"{"reason":"r","to":"a"}"#, 400, "unknown_field"),
        (path + "/transfer", #"{"reason":"r"}"#, 400, "missing_field"),
        (path + "/transfer", #"{"to":"","reason":"r"}"#, 400, "invalid_value"),
        (path + "/transfer?dryRun=true", #"{"to":"a","reason":"r"}"#, 400, "unknown_parameter"),
    ])
    func `are refused where they say something else`(
        _ path: String,
        _ body: String,
        _ status: Int,
        _ code: String
    ) async throws {
        try await Self.with { server in
            let size = try server.ledger.questions.size()
            let answer = try await server.post(path, body, as: .support)
            #expect(answer.status == status && answer.code == code, "\(answer.body)")
            #expect(try server.ledger.questions.size() == size)
        }
    }

    // Stores, rule 7: neither id nor reason of the other
    @Test func `are told both customers without one another`() async throws {
        try await Self.with { server in
            _ = try await server.post(
                Self.path + "/transfer",
                #"{"to":"next-12","reason":"ticket for both"}"#,
                as: .support
            )
            server.clock.now = noon.plus(seconds: 3600)
            for (own, other) in [("former-1", "next-12"), ("next-12", "former-1")] {
                for call in ["/timeline", "/explain?feature=export", "/purchases"] {
                    let answer = try await server.send(
                        .get,
                        "/v1/customers/\(own)\(call)",
                        credential: try server.token(for: own)
                    )
                    #expect(answer.status == 200)
                    #expect(!answer.body.contains(other) && !answer.body.contains("ticket"))
                }
            }
            // The control: support sees why.
            let whole = try await server.get("/v1/customers/next-12/timeline", as: .support)
            #expect(whole.body.contains("ticket for both"))
        }
    }

    // C1: who owns it and since when, and that it is another's now
    @Test func `are explained to support`() async throws {
        try await Self.with { server in
            _ = try await server.post(
                Self.path + "/transfer",
                #"{"to":"next-12","reason":"r"}"#,
                as: .support
            )
            server.clock.now = noon.plus(seconds: 3600)
            func steps(_ customer: String) async throws -> [JSONValue] {
                let path = "/v1/customers/\(customer)/explain?feature=export&for=support"
                let answer = try await server.get(path, as: .support)
                return (answer.json["steps"]?.array ?? []).filter { $0["rule"] == "C1" }
            }
            let next = try await steps("next-12")
            #expect(next.map { $0["type"] } == ["customer.claimed"])
            #expect(next.map { $0["source"] } == ["support"])
            #expect(next.first?["effect"]?["kind"] == "owned")
            let former = try await steps("former-1")
            #expect(former.map { $0["effect"]?["kind"] } == ["not_owned"])
            _ = try await server.post(Self.path + "/release", #"{"reason":"r"}"#, as: .support)
            server.clock.now = noon.plus(seconds: 7200)
            let released = try await steps("next-12")
            #expect(released.last?["effect"]?["kind"] == "not_owned")
        }
    }
}
