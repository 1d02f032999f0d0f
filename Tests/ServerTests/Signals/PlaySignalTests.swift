import Encodings
import EntitlementLedger
import Entitlements
import HTTPTypes
import LedgerOperations
import StoreSimulator
import Stores
import Testing

@testable import LedgerServer

/// Google Play's pushes and purchase data over HTTP (Stores, rule 3).
struct `Google Play over HTTP` {
    private static let path = "/v1/signals/play"
    private static let store = Result { try SimulatedPlayStore() }

    private static func setup(keys: String?? = .none) throws -> TestServer.Setup {
        let store = try store.get()
        let text = try keys ?? store.keySet()
        let identity = PlayPushIdentity(
            audience: store.audience,
            serviceAccount: store.serviceAccount
        )
        var setup = TestServer.Setup()
        setup.stores.playStore = PlayConfiguration(
            packageNames: [Name(store.packageName)],
            licenseKeys: [try #require(PlayLicenseKey(base64: store.licenseKeyText))],
            push: identity
        )
        setup.stores.playPush = PlayPushVerifier(
            identity,
            keys: IssuerKeys(for: TokenKeys.google) {
                text.map { IssuerKeys.Fetched(text: $0, lifetime: nil) }
            }
        )
        return setup
    }

    /// A server that asks an API.
    private static func setup(asking simulated: SimulatedPlayAPI) throws -> TestServer.Setup {
        let account = try #require(ServiceAccount(json: simulated.serviceAccount))
        // The start of a test's clock.
        let now = Instant(milliseconds: 1_780_272_000_000)
        var setup = try setup()
        let api = PlayDeveloperAPI(
            account,
            caller: StoreCaller(
                simulated.transport,
                clock: { now },
                sleep: { _ in },
                random: { 0 }
            ),
            clock: { now }
        )
        setup.stores.clients.playStore = StoreClients.PlayStore(
            api: api,
            configuration: try #require(setup.stores.playStore)
        )
        return setup
    }

    /// What the API says of a subscription that runs.
    private static func subscription(
        _ server: TestServer,
        account: JSONValue = "dora",
        _ changes: JSONValue = .object([])
    ) throws -> JSONValue {
        let start = server.clock.now.advanced(byMilliseconds: -1000)
        let account = JSONMember(
            "externalAccountIdentifiers",
            .members(["obfuscatedExternalAccountId": account])
        )
        return try store.get().subscription(
            order: "GPA.1",
            start: start,
            end: start.advanced(byMilliseconds: 30 * Instant.millisecondsPerDay),
            .object([account] + (changes.members ?? [])),
            item: .members(["productId": "com.example.app.pro.month"])
        )
    }

    private static func push(_ server: TestServer, id: String = "m1") throws -> String {
        try store.get()
            .push(subscription: 4, token: "token-1", id: id, at: server.clock.now).description
    }

    private static func post(
        _ server: TestServer,
        _ body: String,
        authorization: String?
    ) async throws -> TestAnswer {
        var headers = HTTPFields()
        headers[.authorization] = authorization
        return try await server.send(.post, path, headers: headers, body: body)
    }

    @Test func `counts a push by its token, once each`() async throws {
        try await TestServer.with(Self.setup()) { server in
            let bearer = "Bearer " + (try Self.store.get().token(at: server.clock.now))
            let body = try Self.push(server)
            let first = try await Self.post(server, body, authorization: bearer)
            #expect(first.status == 200 && first.json["outcome"] == "appended")
            let size = try server.ledger.questions.size()
            let again = try await Self.post(server, body, authorization: bearer)
            #expect(again.status == 200 && again.json["outcome"] == "duplicate")
            #expect(try server.ledger.questions.size() == size)
        }
    }

    @Test func `counts a push that a key vouches for`() async throws {
        try await TestServer.with(Self.setup()) { server in
            let key = try #require(server.keys[.ingest])
            let answer = try await Self.post(
                server,
                try Self.push(server),
                authorization: "Bearer " + key
            )
            #expect(answer.status == 200 && answer.json["outcome"] == "appended")
        }
    }

    @Test(arguments: [nil, "", "Bearer", "Bearer x", "Bearer a.b.c", "Basic YTpi"])
    func `counts no push without it`(_ authorization: String?) async throws {
        try await TestServer.with(Self.setup()) { server in
            let answer = try await Self.post(
                server,
                try Self.push(server),
                authorization: authorization
            )
            #expect(answer.status == 401 && answer.code == "unauthenticated")
            #expect(try server.ledger.questions.size() == 0)
        }
    }

    // row 8.3: a hint is asked for, and the answer is the fact
    @Test func `asks what a push hints at`() async throws {
        let simulated = try SimulatedPlayAPI()
        try await TestServer.with(Self.setup(asking: simulated)) { server in
            try server.publishCatalog()
            simulated.set(try Self.subscription(server), ofSubscription: "token-1")
            let bearer = "Bearer " + (try Self.store.get().token(at: server.clock.now))
            let body = try Self.push(server)
            let first = try await Self.post(server, body, authorization: bearer)
            #expect(first.status == 200 && first.json["outcome"] == "appended")
            #expect(try await server.has("dora", "export") == true)
            let size = try server.ledger.questions.size()
            let again = try await Self.post(server, body, authorization: bearer)
            #expect(again.json["outcome"] == "duplicate")
            #expect(try server.ledger.questions.size() == size)
            // A push is one signal, of however many events.
            let counts = try await server.get("/metrics", as: .metrics).body.split(separator: "\n")
                .filter { $0.hasPrefix("entitle_signals_total") && $0.contains("play_store") }
            #expect(counts.count == 2 && counts.allSatisfy { $0.hasSuffix(" 1") }, "\(counts)")
        }
    }

    // trap 18: Google takes back what it is not told of
    @Test func `tells Google that it gave what was paid, once it is on the disk`() async throws {
        let simulated = try SimulatedPlayAPI()
        try await TestServer.with(Self.setup(asking: simulated)) { server in
            let missing = JSONMember("acknowledgementState", "ACKNOWLEDGEMENT_STATE_PENDING")
            simulated.set(
                try Self.subscription(server, .object([missing])),
                ofSubscription: "token-1"
            )
            let bearer = "Bearer " + (try Self.store.get().token(at: server.clock.now))
            // The access token, the answer, and then nothing: it is all asked again.
            let access = #"{"access_token":"access-1","expires_in":3600}"#
            simulated.fail(
                with: [
                    StoreResponse(status: 200, body: Array(access.utf8)),
                    StoreResponse(
                        status: 200,
                        body: Array(
                            try Self.subscription(server, .object([missing])).description.utf8
                        )
                    ),
                ] + Array(repeating: nil, count: 4)
            )
            let refused = try await Self.post(server, Self.push(server), authorization: bearer)
            #expect(refused.status == 503 && refused.code == "store_unavailable")
            let answer = try await Self.post(server, Self.push(server), authorization: bearer)
            #expect(answer.status == 200)
            let told = simulated.requests.last?.url
            #expect(
                told?.hasSuffix(
                    "/purchases/subscriptions/com.example.app.pro.month/tokens/token-1:acknowledge"
                ) == true
            )
            let events = try server.events().filter { $0["type"] == "purchase.acknowledged" }
            #expect(events.count == 1)
            #expect(events.first?["subject"] == "purchase/play_store/token-1")
        }
    }

    // trap 3: what a tester bought is the sandbox's, its hint too
    @Test func `keeps a tester's purchase apart`() async throws {
        let simulated = try SimulatedPlayAPI()
        try await TestServer.with(Self.setup(asking: simulated)) { server in
            try server.publishCatalog()
            simulated.set(
                try Self.subscription(server, .members(["testPurchase": .object([])])),
                ofSubscription: "token-1"
            )
            let bearer = "Bearer " + (try Self.store.get().token(at: server.clock.now))
            let answer = try await Self.post(server, Self.push(server), authorization: bearer)
            #expect(answer.status == 200)
            #expect(try await server.has("dora", "export") == false)
            for event in try server.events() where event["source"] == "play_store" {
                #expect(event["environment"] == "sandbox")
            }
        }
    }

    @Test func `records nothing while the API does not answer, and all of it later`() async throws {
        let simulated = try SimulatedPlayAPI()
        try await TestServer.with(Self.setup(asking: simulated)) { server in
            try server.publishCatalog()
            let size = try server.ledger.questions.size()
            simulated.set(try Self.subscription(server), ofSubscription: "token-1")
            let bearer = "Bearer " + (try Self.store.get().token(at: server.clock.now))
            simulated.fail(with: Array(repeating: StoreResponse(status: 503), count: 4))
            let refused = try await Self.post(server, Self.push(server), authorization: bearer)
            #expect(refused.status == 503 && refused.code == "store_unavailable")
            #expect(try server.ledger.questions.size() == size)
            let again = try await Self.post(server, Self.push(server), authorization: bearer)
            #expect(again.status == 200)
            #expect(try await server.has("dora", "export") == true)
        }
    }

    // trap 23: a token that is gone is told once, and comes no more
    @Test func `keeps a hint at what the API no longer knows, and says so`() async throws {
        let simulated = try SimulatedPlayAPI()
        try await TestServer.with(Self.setup(asking: simulated)) { server in
            let bearer = "Bearer " + (try Self.store.get().token(at: server.clock.now))
            let answer = try await Self.post(server, Self.push(server), authorization: bearer)
            #expect(answer.status == 200 && answer.json["outcome"] == "appended")
            let failed = try server.events().first { $0["type"] == "failure.recorded" }
            #expect(failed?["data"]?["errorCode"] == "store_not_found")
            #expect(failed?["subject"] == "purchase/play_store/token-1")
        }
    }

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

    // Stores, rule 10: the fault is not Google's, which sends again
    @Test func `asks for it again while the keys cannot be read`() async throws {
        try await TestServer.with(Self.setup(keys: .some(nil))) { server in
            let bearer = "Bearer " + (try Self.store.get().token(at: server.clock.now))
            let answer = try await Self.post(server, Self.push(server), authorization: bearer)
            #expect(answer.status == 503 && answer.code == "store_unavailable")
            #expect(answer.headers[.retryAfter] == "30")
            #expect(try server.ledger.questions.size() == 0)
        }
    }

    @Test func `is refused where it is not configured`() async throws {
        try await TestServer.with { server in
            let answer = try await Self.post(server, Self.push(server), authorization: nil)
            #expect(answer.status == 503 && answer.code == "not_configured")
        }
    }

    @Test func `refuses what is none, and counts it`() async throws {
        try await TestServer.with(Self.setup()) { server in
            let bearer = "Bearer " + (try Self.store.get().token(at: server.clock.now))
            let answer = try await Self.post(server, #"{"message":{}}"#, authorization: bearer)
            #expect(answer.status == 400 && answer.code == "missing_field")
            #expect(answer.json["path"] == "message.messageId")
            let noted = try server.ledger.questions.event(at: 0)
            #expect(noted?.event.data.text(.name) == "verification_refused")
            #expect(noted?.event.subject == .store("play_store"))
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
                #expect(claimed.status == 200)
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
