import Encodings
import Entitlements
import HTTPTypes
import LedgerOperations
import StoreSimulator
import Stores
import Testing

@testable import LedgerServer

/// What a customer sees of what they bought (rows 7.1, 7.2), and how they restore it (rows 6.1 to 6.6).
struct `A purchase history` {
    // row 7.1
    @Test func `says what is open, what was charged, and what comes`() async throws {
        try await OwnWorld.with { server in
            try await server.hand(in: OwnWorld.month(1, of: OwnWorld.alice))
            let cookie = try await server.entered(OwnWorld.alice)
            let page = try await server.page("/history", cookie: cookie)
            #expect(page.body.contains("You have Pro Monthly until"))
            #expect(page.body.contains("¥600") && !page.body.contains("600.00"))
            #expect(page.body.contains("https://apps.apple.com/account/subscriptions"))
            #expect(page.body.contains("https://reportaproblem.apple.com"))
            // Row 7.2: the details are there without a script, which makes a dialog of them.
            #expect(page.body.contains("<details class=\"detail\""))
            let japanese = try await server.page("/history", cookie: cookie, language: "ja")
            #expect(japanese.body.contains("まで有効") && japanese.body.contains("支払い済み"))
            let rows = try await server.page("/history.csv", cookie: cookie)
            #expect(rows.body.hasPrefix("purchase,transactionId,"))
            let lines = try await server.page("/history.ndjson", cookie: cookie)
            #expect(lines.body.contains(#""priceMicros":600000000"#))
        }
    }

    @Test func `says that nothing was bought`() async throws {
        try await OwnWorld.with { server in
            let cookie = try await server.entered(OwnWorld.alice)
            let page = try await server.page("/history", cookie: cookie)
            #expect(page.body.contains("There are no purchases yet."))
            #expect(page.body.contains("Nothing that is paid is open"))
        }
    }

    // row 6.1, row 6.2, row 6.3, row 6.4
    @Test func `asks the stores again, and says what came of it`() async throws {
        let store = try AppStoreWorld.store()
        let api = SimulatedAppStoreAPI(store) { noon }
        try await TestServer.with(SyncWorld.setup(api)) { server in
            try server.publishCatalog()
            let cookie = try await server.entered(AppStoreWorld.account)
            func restored() async throws -> String? {
                try await server.submit("/history/restore", cookie: cookie)
                    .headers[.location]
            }
            var account = SyncWorld.subscriber(of: store)
            api.set([account])
            // The App Store knows of it, and is asked by purchases that are known here.
            #expect(try await restored() == "/history?done=unavailable")
            let elsewhere = try await server.page("/history?done=unavailable", cookie: cookie)
            #expect(elsewhere.body.contains("Please restore in the app."))
            let plainly = try await server.page("/history?done=nothing", cookie: cookie)
            #expect(plainly.body.contains("There is nothing to restore."))
            let told = try store.signed(try #require(account.notifications.first))
            _ = try await server.post(
                "/v1/signals/app-store",
                AppStoreWorld.body(told),
                as: .ingest
            )
            account.refund(0, at: AppStoreWorld.start.plus(seconds: 86_400))
            api.set([account])
            #expect(try await restored() == "/history?done=found")
            #expect(try await restored() == "/history?done=known")
            let page = try await server.page("/history?done=found", cookie: cookie)
            #expect(page.body.contains("Your purchases were restored."))
            #expect(page.body.contains("Refunded"))
            // Row 6.6: who does not answer is to be asked again.
            api.fail(with: Array(repeating: StoreResponse(status: 500), count: 100))
            #expect(try await restored() == "/history?done=failed")
        }
    }

    // row 6.3, row 6.4, row 6.6: a store that knows nothing of a purchase any more has answered.
    @Test func `says what came of the others where a store knows nothing of one`() async throws {
        let store = try AppStoreWorld.store()
        let api = SimulatedAppStoreAPI(store) { noon }
        try await TestServer.with(SyncWorld.setup(api)) { server in
            try server.publishCatalog()
            let cookie = try await server.entered(AppStoreWorld.account)
            func restored() async throws -> String? {
                try await server.submit("/history/restore", cookie: cookie)
                    .headers[.location]
            }
            let old = SyncWorld.subscriber(of: store)
            var new = SyncWorld.subscriber(2, of: store)
            for account in [old, new] {
                let told = try store.signed(try #require(account.notifications.first))
                let body = AppStoreWorld.body(told)
                let heard = try await server.post("/v1/signals/app-store", body, as: .ingest)
                #expect(heard.status == 200)
            }
            api.set([])
            #expect(try await restored() == "/history?done=nothing")
            new.refund(0, at: AppStoreWorld.start.plus(seconds: 86_400))
            api.set([new])
            #expect(try await restored() == "/history?done=found")
            #expect(try await restored() == "/history?done=known")
            // The control: who did not answer is to be asked again, whatever others know.
            api.fail(with: Array(repeating: StoreResponse(status: 500), count: 4))
            #expect(try await restored() == "/history?done=failed")
        }
    }

    // row 6.4: RevenueCat is asked by the customer, of whom no purchase is known here.
    @Test func `says plainly that there is nothing where who was asked knows of nothing`()
        async throws
    {
        var setup = TestServer.Setup()
        setup.stores.clients.revenueCat = RevenueCatAPI(
            key: Array("sk_simulated_0123456789".utf8),
            projectID: "proj1",
            caller: StoreCaller(
                SimulatedRevenueCatAPI().transport,
                clock: { noon },
                sleep: { _ in },
                random: { 0 }
            ),
            clock: { noon }
        )
        try await TestServer.with(setup) { server in
            try server.publishCatalog()
            let cookie = try await server.entered(OwnWorld.alice)
            let restored = try await server.submit("/history/restore", cookie: cookie)
            #expect(restored.headers[.location] == "/history?done=nothing")
        }
    }

    // row 9.6: an account with a store is everybody's.
    @Test func `asks the stores no more often than a customer may`() async throws {
        let api = SimulatedAppStoreAPI(try AppStoreWorld.store()) { noon }
        var setup = try SyncWorld.setup(api)
        setup.quotas[.restores] = RateLimitQuota(requests: 2, windowSeconds: 3600)
        try await TestServer.with(setup) { server in
            try server.publishCatalog()
            let (one, other) = (
                try await server.entered(OwnWorld.alice), try await server.entered(OwnWorld.bob)
            )
            for _ in 0..<2 {
                let answer = try await server.submit("/history/restore", cookie: one)
                #expect(answer.status == 303)
            }
            let refused = try await server.submit("/history/restore", cookie: one)
            #expect(refused.status == 429 && refused.headers[.retryAfter] != nil)
            // The control: others are not held up by it.
            #expect(try await server.submit("/history/restore", cookie: other).status == 303)
        }
    }

    // row 6.6
    @Test func `offers to try again where a store does not answer`() async throws {
        try await OwnWorld.with { server in
            let cookie = try await server.entered(OwnWorld.alice)
            let failed = try await server.page("/history?done=failed", cookie: cookie)
            #expect(failed.body.contains("please try again"))
            #expect(failed.body.contains("<button class=\"primary\">Try again</button>"))
            // Row 6.5: a script says that work is under way.
            #expect(failed.body.contains("data-busy=\"Working…\""))
            let answer = try await server.submit("/history/restore", cookie: cookie)
            #expect(answer.headers[.location] == "/history?done=unavailable")
        }
    }
}
