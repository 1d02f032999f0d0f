import Encodings
import EntitlementLedger
import Entitlements
import HTTPTypes
import LedgerAPI
import StoreSimulator
import Stores
import Testing

@testable import LedgerServer

/// What support has recorded from a customer's page (row 8.6).
struct `A form of a customer's page` {
    private static let base = "/console/customers/anna"

    /// The form as it stands on its page: what names the request among it.
    private static func open(
        _ form: String,
        _ visitor: PageVisitor
    ) async throws -> [(String, String)] {
        let answer = try await visitor.get("\(base)/\(form)")
        #expect(answer.status == 200)
        let page = try PageText(answer.body)
        let place = try #require(page.values.firstIndex(of: "request"))
        return [("request", page.values[place + 1])]
    }

    @Test func `shows what would change, and then records it once, with its reason`() async throws {
        try await `The page of a customer`.refunded { server, visitor in
            let fields =
                try await Self.open("grant", visitor) + [
                    ("tier", "pro"), ("features", ""), ("expiresAt", ""), ("reason", "goodwill"),
                ]
            let size = try server.ledger.questions.size()
            let preview = try await visitor.post(Self.base + "/grant", fields)
            #expect(preview.status == 200, "\(preview.body)")
            let page = try PageText(preview.body)
            #expect(page.texts.contains { $0.contains("free → pro") }, "\(page.texts)")
            #expect(page.texts.contains("export"))
            // Nothing but the looks was recorded.
            let kinds = try server.events().dropFirst(Int(size)).compactMap { $0["type"]?.string }
            #expect(Set(kinds).subtracting(["access.logged"]).isEmpty)
            for _ in 0..<2 {
                let done = try await visitor.post(
                    Self.base + "/grant",
                    fields + [("confirmed", "yes")]
                )
                #expect(done.status == 303, "\(done.body)")
                #expect(done.headers[.location] == Self.base + "?done=grant")
            }
            #expect(try await server.has("anna", "export") == true)
            let grants = try server.events().filter { $0["type"]?.string == "grant.given" }
            #expect(grants.count == 1)
            #expect(grants.first?["data"]?["reason"]?.string == "goodwill")
        }
    }

    @Test func `says what is wrong with it, and keeps what was written`() async throws {
        try await `The page of a customer`.refunded { _, visitor in
            for (form, wrong, words) in [
                ("grant", [("reason", "why not")], "features"),
                ("grant", [("tier", "pro")], "bytes of text"),
                (
                    "transfer", [("purchase", "app_store/100"), ("to", ""), ("reason", "x")],
                    "required"
                ),
                (
                    "transfer", [("purchase", "app_store/9"), ("to", "bob"), ("reason", "x")],
                    "purchase"
                ),
                ("withdraw", [("grantId", "none"), ("reason", "x")], "grant"),
                ("sync", [("reason", "x"), ("confirmed", "yes")], "store"),
            ] {
                let fields = try await Self.open(form, visitor) + wrong
                let answer = try await visitor.post("\(Self.base)/\(form)", fields)
                #expect((400..<600).contains(answer.status), "\(form) \(wrong)")
                let page = try PageText(answer.body)
                #expect(page.texts.contains { $0.contains(words) }, "\(form): \(page.texts)")
            }
        }
    }

    /// A form that is sent for good.
    private static let confirmed = [
        ("request", "once"), ("reason", "asked"), ("confirmed", "yes"),
    ]

    @Test func `says where a store did not tell all, and notes who looked`() async throws {
        let store = try AppStoreWorld.store()
        let api = SimulatedAppStoreAPI(store) { noon }
        try await TestServer.with(SyncWorld.setup(api)) { server in
            try server.publishCatalog()
            let account = SyncWorld.subscriber(of: store)
            let told = try store.signed(try #require(account.notifications.first))
            let heard = try await server.post(
                "/v1/signals/app-store",
                AppStoreWorld.body(told),
                as: .ingest
            )
            #expect(heard.status == 200)
            api.set([account])
            let visitor = try PageVisitor(server, with: .support)
            let path = "/console/customers/\(AppStoreWorld.account)/sync"
            let whole = try await visitor.post(path, Self.confirmed)
            #expect(whole.status == 303, "the control: \(whole.body)")
            // One that knows nothing of it any more told all that it knows.
            api.set([])
            let unknown = try await visitor.post(path, Self.confirmed)
            #expect(unknown.status == 303, "\(unknown.body)")
            api.fail(with: Array(repeating: StoreResponse(status: 503), count: 100))
            let half = try await visitor.post(path, Self.confirmed)
            #expect(half.status == 503)
            let page = try PageText(half.body)
            #expect(page.texts.contains { $0.contains("did not tell all") }, "\(page.texts)")
            // What is asked for is written there still.
            #expect(page.values.contains("asked"))
            let noted = try await server.noted(of: AppStoreWorld.customer)
            #expect(noted.count { $0["data"]?["action"]?.string == "syncCustomer" } == 3)
        }
    }

    @Test func `says where a payload no longer verifies, or nobody can judge it`() async throws {
        try await TestServer.with(AppStoreWorld.setup()) { server in
            try server.publishCatalog()
            let signed = try AppStoreWorld.transaction(1)
            let claimed = try await server.post("/v1/customers/carol-1/purchases", signed)
            #expect(claimed.status == 200)
            let visitor = try PageVisitor(server, with: .support)
            let path = "/console/customers/carol-1/verify"
            let sound = try await visitor.post(path, Self.confirmed)
            #expect(sound.status == 303, "the control: \(sound.body)")
            let store = try AppStoreWorld.store()
            let other = try SigningAuthority(validity: AppStoreWorld.validity)
            let stranger = try AppStoreVerifier(
                AppStoreConfiguration(
                    bundleIDs: [store.bundleID],
                    appAppleID: store.appAppleID,
                    roots: [other.root]
                )
            )
            for (verifier, status, words) in [
                (nil, 503, "nobody is configured"), (stranger, 422, "no longer verifies"),
            ] as [(AppStoreVerifier?, Int, String)] {
                var trust = server.service.trust.current
                trust.stores.appStore = verifier
                server.service.renew(trust)
                let answer = try await visitor.post(path, Self.confirmed)
                #expect(answer.status == status, "\(answer.body)")
                let page = try PageText(answer.body)
                #expect(page.texts.contains { $0.contains(words) }, "\(page.texts)")
            }
        }
    }

    @Test func `hands a purchase on, and an id over`() async throws {
        try await `The page of a customer`.refunded { server, visitor in
            for (form, more) in [
                ("transfer", [("purchase", "app_store/100"), ("to", "bob"), ("reason", "asked")]),
                ("link", [("alias", "anna-2"), ("reason", "asked")]),
            ] {
                let fields = try await Self.open(form, visitor) + more
                let preview = try await visitor.post("\(Self.base)/\(form)", fields)
                #expect(preview.status == 200, "\(preview.body)")
                let done = try await visitor.post(
                    "\(Self.base)/\(form)",
                    fields + [("confirmed", "yes")]
                )
                #expect(done.status == 303, "\(form): \(done.body)")
            }
            let matches = try server.ledger.questions.search(
                "100",
                in: .production,
                at: server.clock.now
            )
            #expect(matches.matches.map(\.customer) == ["bob"])
        }
    }

    @Test func `erases whom was typed, by whom may`() async throws {
        try await `The page of a customer`.refunded { server, support in
            // Support may not, and is not offered it.
            let page = try PageText(try await support.get(Self.base).body)
            #expect(page.links.contains(Self.base + "/grant"))
            #expect(!page.links.contains(Self.base + "/erase"))
            #expect(try await support.get(Self.base + "/erase").status == 403)
            let admin = PageVisitor(server, as: .console)
            let fields = try await Self.open("erase", admin) + [("reason", "asked")]
            let wrong = try await admin.post(
                Self.base + "/erase",
                fields + [("typed", "ann"), ("confirmed", "yes")]
            )
            #expect(wrong.status == 400)
            let done = try await admin.post(
                Self.base + "/erase",
                fields + [("typed", "anna"), ("confirmed", "yes")]
            )
            #expect(done.status == 303, "\(done.body)")
            #expect(done.headers[.location] == "/console/customers")
            let kinds = try server.events().compactMap { $0["type"]?.string }
            #expect(kinds.contains(EventKind.customerErased.name))
        }
    }
}
