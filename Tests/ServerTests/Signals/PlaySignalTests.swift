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
    static let store = Result { try SimulatedPlayStore() }

    static func setup(keys: String?? = .none) throws -> TestServer.Setup {
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
    static func setup(asking simulated: SimulatedPlayAPI) throws -> TestServer.Setup {
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
    static func subscription(
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

    // RFC 9110, section 11.1: a scheme has any case, and one space or more behind it.
    @Test(arguments: ["Bearer ", "bearer ", "BEARER  "])
    func `counts a push by its token, however its scheme is written`(_ scheme: String) async throws
    {
        try await TestServer.with(Self.setup()) { server in
            let token = try Self.store.get().token(at: server.clock.now)
            let answer = try await Self.post(
                server,
                try Self.push(server),
                authorization: scheme + token
            )
            #expect(answer.status == 200 && answer.json["outcome"] == "appended", "\(answer.body)")
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
            // Stores, rule 5: nothing is kept but that it was refused, once an hour
            for _ in 0..<2 {
                let answer = try await Self.post(
                    server,
                    try Self.push(server),
                    authorization: authorization
                )
                #expect(answer.status == 401 && answer.code == "unauthenticated")
            }
            let events = try server.events()
            #expect(events.map { $0["subject"] } == ["store/play_store"])
            #expect(events.first?["data"]?["name"] == "verification_refused")
            #expect(events.first?["data"]?["detail"] == "code unauthenticated, count 1")
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
            let events = try server.events().filter { $0["source"] == "play_store" }
            #expect(!events.isEmpty, "it is recorded")
            for event in events { #expect(event["environment"] == "sandbox") }
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

    // Stores, rule 10: a page in the place of an answer says nothing of the purchase
    @Test(arguments: ["<html>Service Unavailable</html>", #"{"kind":"#, ""])
    func `asks for it again where the answer cannot be read, for a day`(_ body: String) async throws
    {
        let simulated = try SimulatedPlayAPI()
        try await TestServer.with(Self.setup(asking: simulated)) { server in
            try server.publishCatalog()
            let push = try Self.push(server)
            let cut = StoreResponse(status: 200, body: Array(body.utf8))
            func send(_ push: String) async throws -> TestAnswer {
                let bearer = "Bearer " + (try Self.store.get().token(at: server.clock.now))
                return try await Self.post(server, push, authorization: bearer)
            }
            simulated.set(try Self.subscription(server), ofSubscription: "token-1")
            // Before the first an access token is asked for.
            #expect(try await send(Self.push(server, id: "m0")).status == 200)
            let size = try server.ledger.questions.size()
            simulated.fail(with: [cut])
            let refused = try await send(push)
            #expect(refused.status == 503 && refused.code == "store_unavailable")
            #expect(try server.ledger.questions.size() == size)
            // The control: at last it is noted.
            server.clock.now = server.clock.now.advanced(byMilliseconds: 25 * 3_600_000)
            simulated.fail(with: [cut])
            #expect(try await send(push).status == 200)
            let failed = try server.events().first { $0["type"] == "failure.recorded" }
            #expect(failed?["data"]?["errorCode"] == "store_malformed")
        }
    }

    // Stores, rule 10: where nobody signs in, nothing is said of the purchase
    @Test func `asks for it again where there is nobody to sign in at`() async throws {
        let simulated = try SimulatedPlayAPI()
        try await TestServer.with(Self.setup(asking: simulated)) { server in
            try server.publishCatalog()
            let size = try server.ledger.questions.size()
            simulated.set(try Self.subscription(server), ofSubscription: "token-1")
            let bearer = "Bearer " + (try Self.store.get().token(at: server.clock.now))
            // At the address for access tokens.
            simulated.fail(with: [StoreResponse(status: 404)])
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
}
