import Encodings
import EntitlementLedger
import Entitlements
import HTTPTypes
import StoreSimulator
import Stores
import Testing

@testable import LedgerServer

/// Purchases of Google Play that customers hand in: tokens, and what is signed for an app (Stores, rules 3 and 7).
extension `Google Play over HTTP` {
    @Test func `takes a token for a claim, by what the API says of it`() async throws {
        let simulated = try SimulatedPlayAPI()
        try await TestServer.with(Self.setup(asking: simulated)) { server in
            try server.publishCatalog()
            simulated.set(
                try Self.subscription(server, account: .null),
                ofSubscription: "token-1"
            )
            func claim(
                _ token: String,
                _ app: String = "com.example.app"
            ) async throws -> TestAnswer {
                let body =
                    #"{"store":"play_store","packageName":"\#(app)","purchaseToken":"\#(token)"}"#
                return try await server.post("/v1/customers/erik/purchases", body, as: .write)
            }
            let claimed = try await claim("token-1")
            #expect(claimed.status == 200 && claimed.json["purchase"] == "play_store/token-1")
            #expect(try await server.has("erik", "export") == true)
            // Asked again, Google says the same: nothing is added but that it was asked.
            let size = try server.ledger.questions.size()
            #expect(try await claim("token-1").json["outcome"] == "known")
            #expect(try server.ledger.questions.size() == size + 1)
            #expect(try await claim("token-1").json["outcome"] == "known")
            #expect(try server.ledger.questions.size() == size + 1)
            let tokens = (0..<21).map {
                #"{"store":"play_store","packageName":"com.example.app","purchaseToken":"t\#($0)"}"#
            }
            let many = try await server.post(
                "/v1/customers/erik/restore",
                #"{"transactions":[\#(tokens.joined(separator: ","))]}"#,
                as: .write
            )
            #expect(many.status == 400 && many.code == "out_of_range")
            let unknown = try await claim("token-2")
            #expect(unknown.status == 400 && unknown.json["path"] == "purchaseToken")
            let foreign = try await claim("token-1", "com.example.other")
            #expect(foreign.status == 422 && foreign.code == "wrong_bundle")
            simulated.fail(with: Array(repeating: nil, count: 4))
            let later = try await claim("token-1")
            #expect(later.status == 503 && later.code == "store_unavailable")
        }
    }

    // row 9.6: an account with a store is everybody's, and a token that is invented is asked about as a real one.
    @Test func `asks about no more tokens than a customer may name`() async throws {
        let simulated = try SimulatedPlayAPI()
        var setup = try Self.setup(asking: simulated)
        setup.quotas[.questions] = RateLimitQuota(requests: 3, windowSeconds: 3600)
        try await TestServer.with(setup) { server in
            func item(_ token: String) -> String {
                #"{"store":"play_store","packageName":"com.example.app","purchaseToken":"\#(token)"}"#
            }
            func claim(
                _ token: String,
                for customer: String = "erik",
                by key: String? = nil
            ) async throws -> TestAnswer {
                try await server.send(
                    .post,
                    "/v1/customers/\(customer)/purchases",
                    credential: try key ?? server.token(for: customer),
                    body: item(token)
                )
            }
            func restore(_ tokens: String...) async throws -> TestAnswer {
                try await server.send(
                    .post,
                    "/v1/customers/erik/restore",
                    credential: try server.token(for: "erik"),
                    body: #"{"transactions":[\#(tokens.map(item).joined(separator: ","))]}"#
                )
            }
            #expect(try await restore("t1", "t2").json["refused"] == .integer(2))
            // All of a restore or none: it takes nothing of what is left, and no item is refused for good.
            var asked = simulated.requests.count
            let many = try await restore("t3", "t4")
            #expect(many.status == 429 && many.code == "rate_limited", "\(many.body)")
            #expect(many.json["violated-policies"] == .strings(["questions"]))
            #expect(simulated.requests.count == asked)
            #expect(try await claim("t3").status == 400)
            #expect(simulated.requests.count > asked, "the control: one is left")
            asked = simulated.requests.count
            let over = try await claim("t4")
            #expect(over.status == 429 && over.headers[.retryAfter] != nil)
            #expect(simulated.requests.count == asked)
            // The controls: nobody else is held up, nor whoever runs the ledger.
            #expect(try await claim("t4", for: "fred").status == 400)
            #expect(try await claim("t4", by: server.keys[.write]).status == 400)
        }
    }

    /// What the API says of a subscription with an add-on.
    ///
    /// `isFirst`: whether the add-on is told first. `before`: the token that it replaces.
    private static func withAddOn(
        _ server: TestServer,
        isFirst: Bool = true,
        replacing before: String? = nil
    ) throws -> JSONValue {
        let single = try subscription(server, account: .null)
        let item = try #require(single["lineItems"]?.array?.first)
        let more = (item.members ?? []).filter { $0.name != "productId" }
        let addOn = JSONValue.object([JSONMember("productId", "com.example.app.addon")] + more)
        var changes = [JSONMember("lineItems", .array(isFirst ? [addOn, item] : [item, addOn]))]
        if let before { changes.append(JSONMember("linkedPurchaseToken", .string(before))) }
        return try subscription(server, account: .null, .object(changes))
    }

    // P3, C1: an add-on is a purchase of its own, and is claimed with what it was bought with
    @Test func `takes a token of several products for a claim to each`() async throws {
        for policy in ["keep", "transfer"] {
            let simulated = try SimulatedPlayAPI()
            try await TestServer.with(Self.setup(asking: simulated)) { server in
                try TestServer.publishCatalog(in: server.ledger, policy: policy)
                simulated.set(try Self.withAddOn(server), ofSubscription: "token-1")
                func claim(
                    _ customer: String,
                    _ token: String = "token-1"
                ) async throws -> TestAnswer {
                    try await server.post(
                        "/v1/customers/\(customer)/purchases",
                        #"{"store":"play_store","packageName":"com.example.app","#
                            + #""purchaseToken":"\#(token)"}"#,
                        as: .write
                    )
                }
                func owned(_ customer: String) async throws -> Int {
                    let shown = try await server.get("/v1/customers/\(customer)")
                    return shown.json["purchases"]?.array?.count ?? 0
                }
                #expect(try await claim("erik").json["outcome"] == "recorded")
                #expect(try await server.has("erik", "export") == true)
                #expect(try await owned("erik") == 2)
                #expect(try await claim("erik").json["outcome"] == "known")
                let other = try await claim("fred")
                let isMoved = policy == "transfer"
                #expect(other.status == (isMoved ? 200 : 409), "\(other.body)")
                #expect(try await owned("erik") == (isMoved ? 0 : 2))
                #expect(try await owned("fred") == (isMoved ? 2 : 0))
                // P13: nor does somebody else get what replaces it, in whatever order its products are told.
                simulated.set(
                    try Self.subscription(server, account: .null),
                    ofSubscription: "token-0"
                )
                #expect(try await claim("hans", "token-0").status == 200)
                simulated.set(
                    try Self.withAddOn(server, isFirst: false, replacing: "token-0"),
                    ofSubscription: "token-2"
                )
                let taken = try await claim("gina", "token-2")
                #expect(taken.status == (isMoved ? 200 : 409), "\(taken.body)")
                #expect(try await owned("gina") == (isMoved ? 2 : 0))
                #expect(try await claim("hans", "token-2").status == 200)
                #expect(try await owned("gina") == 0)
            }
        }
    }

    // What Google signs of a purchase does not say that it was several products; its API does.
    @Test func `takes signed data of several products for a claim to each`() async throws {
        let simulated = try SimulatedPlayAPI()
        try await TestServer.with(Self.setup(asking: simulated)) { server in
            let store = try Self.store.get()
            try server.publishCatalog()
            simulated.set(try Self.withAddOn(server, isFirst: false), ofSubscription: "token-1")
            let data = store.purchaseData(
                at: server.clock.now,
                .object([
                    JSONMember("autoRenewing", .bool(true)),
                    JSONMember("purchaseToken", "token-1"),
                ])
            )
            let body = JSONValue.object(
                [JSONMember("store", "play_store")] + (try store.signed(data).members ?? [])
            ).description
            let claimed = try await server.post("/v1/customers/alice/purchases", body, as: .write)
            #expect(claimed.status == 200, "\(claimed.body)")
            #expect(try await server.has("alice", "export") == true)
            let shown = try await server.get("/v1/customers/alice")
            #expect(shown.json["purchases"]?.array?.count == 2)
        }
    }

    // P13, C1: whoever owns what a token replaces owns what it replaces it with, whichever is heard first
    @Test func `refuses a token that replaces what another owns`() async throws {
        for policy in ["keep", "transfer"] {
            let simulated = try SimulatedPlayAPI()
            try await TestServer.with(Self.setup(asking: simulated)) { server in
                try TestServer.publishCatalog(in: server.ledger, policy: policy)
                func claim(_ token: String, for customer: String) async throws -> TestAnswer {
                    try await server.post(
                        "/v1/customers/\(customer)/purchases",
                        #"{"store":"play_store","packageName":"com.example.app","#
                            + #""purchaseToken":"\#(token)"}"#,
                        as: .write
                    )
                }
                for (token, before) in [("token-1", JSONValue.null), ("token-2", "token-1")] {
                    simulated.set(
                        try Self.subscription(
                            server,
                            account: .null,
                            .object([JSONMember("linkedPurchaseToken", before)])
                        ),
                        ofSubscription: token
                    )
                }
                #expect(try await claim("token-1", for: "erik").status == 200)
                let other = try await claim("token-2", for: "fred")
                let isMoved = policy == "transfer"
                #expect(other.status == (isMoved ? 200 : 409), "\(other.body)")
                #expect(try await server.has("erik", "export") == !isMoved)
                #expect(try await server.has("fred", "export") == isMoved)
                // The owner's own is taken whoever else asked before.
                if !isMoved { #expect(try await claim("token-2", for: "erik").status == 200) }
            }
        }
    }

    // Stores, rule 3: Google gives the money back for what nobody acknowledges
    @Test func `acknowledges what a restore gave, and nothing that it refused`() async throws {
        for policy in ["keep", "transfer"] {
            let simulated = try SimulatedPlayAPI()
            try await TestServer.with(Self.setup(asking: simulated)) { server in
                try TestServer.publishCatalog(in: server.ledger, policy: policy)
                let unpaid = JSONValue.object([
                    JSONMember("acknowledgementState", "ACKNOWLEDGEMENT_STATE_PENDING")
                ])
                simulated.set(
                    try Self.subscription(server, account: "erik", unpaid),
                    ofSubscription: "token-1"
                )
                let token =
                    #"{"store":"play_store","packageName":"com.example.app","purchaseToken":"token-1"}"#
                let answer = try await server.post(
                    "/v1/customers/fred/restore",
                    #"{"transactions":[\#(token)]}"#,
                    as: .write
                )
                let item = answer.json["items"]?.array?.first
                let isGiven = policy == "transfer"
                #expect((item?["outcome"] == "recorded") == isGiven, "\(answer.body)")
                let told = simulated.requests.contains { $0.url.hasSuffix(":acknowledge") }
                #expect(told == isGiven)
            }
        }
    }

    // row 2.3, row 6.3, CL1: purchase data that Google Play signed is a claim
    @Test func `takes signed purchase data for a claim`() async throws {
        try await TestServer.with(Self.setup()) { server in
            let store = try Self.store.get()
            try server.publishCatalog()
            let data = store.purchaseData(at: server.clock.now)
            let body = JSONValue.object(
                [JSONMember("store", "play_store")] + (try store.signed(data).members ?? [])
            ).description
            let claimed = try await server.post("/v1/customers/alice/purchases", body, as: .write)
            #expect(claimed.status == 200)
            #expect(claimed.json["purchase"] == "play_store/simulated-token-lifetime-1")
            let other = try await server.post("/v1/customers/bob/purchases", body, as: .write)
            #expect(other.status == 409 && other.code == "claimed_by_another")
            let forged = body.replacing("lifetime-1", with: "lifetime-2")
            let refused = try await server.post("/v1/customers/alice/purchases", forged, as: .write)
            #expect(refused.status == 422 && refused.code == "bad_signature")
            #expect(refused.json["error"]?["platform"] == "play_store")
        }
    }

    // Stores, trap 3: what Google signs does not say that a tester bought; its API does.
    @Test func `takes signed data of a tester's product for one of the sandbox`() async throws {
        for isTester in [true, false] {
            let simulated = try SimulatedPlayAPI()
            try await TestServer.with(Self.setup(asking: simulated)) { server in
                let store = try Self.store.get()
                try server.publishCatalog()
                let told = JSONValue.members([
                    "purchaseStateContext": .members(["purchaseState": "PURCHASED"]),
                    "productLineItem": .array([
                        .members(["productId": "com.example.app.lifetime"])
                    ]),
                    "purchaseCompletionTime": .string(server.clock.now.description),
                    "orderId": "GPA.9", "testPurchaseContext": isTester ? .object([]) : .null,
                ])
                simulated.set(told, ofProduct: "simulated-token-lifetime-1")
                let data = try store.signed(store.purchaseData(at: server.clock.now))
                let body = JSONValue.object(
                    [JSONMember("store", "play_store")] + (data.members ?? [])
                ).description
                let path = "/v1/customers/alice/purchases"
                #expect(try await server.post(path, body, as: .write).status == 200)
                let types = ["purchase.completed", "verification.passed", "customer.claimed"]
                let places = try server.events().filter { types.contains($0["type"]?.string ?? "") }
                    .map { $0["environment"]?.string ?? "production" }
                #expect(places.count >= types.count, "the control")
                #expect(Set(places) == [isTester ? "sandbox" : "production"])
            }
        }
    }

    // Stores, rule 6
    @Test func `takes signed data from days ahead for no purchase`() async throws {
        try await TestServer.with(Self.setup()) { server in
            let store = try Self.store.get()
            for (days, isBought): (Int64, Bool) in [(2, false), (0, true)] {
                let data = store.purchaseData(
                    at: server.clock.now.advanced(byMilliseconds: days * Instant.millisecondsPerDay)
                )
                let body = JSONValue.object(
                    [JSONMember("store", "play_store")] + (try store.signed(data).members ?? [])
                ).description
                let path = "/v1/customers/alice/purchases"
                #expect(try await server.post(path, body, as: .write).status == 200)
                let types = try server.events().map { $0["type"] }
                #expect(types.contains("purchase.completed") == isBought)
            }
        }
    }

    // Stores, rules 3 and 7: the data tells no end of a subscription
    @Test func `asks about the signed data of a subscription at once`() async throws {
        let store = try Self.store.get()
        func claim(
            _ simulated: SimulatedPlayAPI,
            isTold: Bool,
            isTester: Bool = false
        ) async throws {
            try await TestServer.with(Self.setup(asking: simulated)) { server in
                try server.publishCatalog()
                let data = store.purchaseData(
                    at: server.clock.now,
                    .members([
                        "productId": "com.example.app.pro.month", "purchaseToken": "token-1",
                        "autoRenewing": .bool(true),
                    ])
                )
                let unpaid = JSONValue.object(
                    [JSONMember("acknowledgementState", "ACKNOWLEDGEMENT_STATE_PENDING")]
                        + (isTester ? [JSONMember("testPurchase", .object([]))] : [])
                )
                if isTold {
                    simulated.set(
                        try Self.subscription(server, account: .null, unpaid),
                        ofSubscription: "token-1"
                    )
                }
                let body = JSONValue.object(
                    [JSONMember("store", "play_store")] + (try store.signed(data).members ?? [])
                ).description
                let claimed = try await server.post(
                    "/v1/customers/fred/purchases",
                    body,
                    as: .write
                )
                #expect(claimed.status == (isTold ? 200 : 400))
                #expect(try await server.has("fred", "export") == (isTold && !isTester))
                // What the store says is said where the store says that it belongs.
                let verdicts = try server.events().filter {
                    $0["type"] == "verification.passed" && $0["data"]?["method"] == "store_api"
                }
                let places = Set(verdicts.map { $0["environment"]?.string ?? "production" })
                #expect(places == (isTold ? [isTester ? "sandbox" : "production"] : []))
            }
        }
        let simulated = try SimulatedPlayAPI()
        try await claim(simulated, isTold: true)
        // It is on the disk, so Google is told.
        #expect(simulated.requests.contains { $0.url.hasSuffix(":acknowledge") })
        try await claim(try SimulatedPlayAPI(), isTold: false)
        try await claim(try SimulatedPlayAPI(), isTold: true, isTester: true)
    }
}
