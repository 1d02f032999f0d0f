import Encodings
import EntitlementLedger
import Entitlements
import LedgerOperations
import StoreSimulator
import Stores
import Synchronization
import Testing

@testable import LedgerServer

/// The server's own look for what stores have not told (Z12).
struct `A store watch` {
    private static func renewing(_ number: Int, until end: Instant) -> [String] {
        let start = end.advanced(byMilliseconds: -Instant.millisecondsPerDay)
        func line(_ type: String, _ data: String) -> String {
            """
            {"specversion":"1.0","id":"\(type)-\(number)","source":"app_store","type":"\(type)",\
            "subject":"purchase/app_store/\(number)","time":"\(start)","data":{\(data)}}
            """
        }
        return [
            line(
                "purchase.completed",
                """
                "transactionId":"t\(number)","productId":"pro.month",\
                "productKind":"auto_renewable","expiresAt":"\(end)","account":"renewing-\(number)"
                """
            ),
            line("verification.passed", #""method":"app_store_jws""#),
        ]
    }

    private static func told(_ server: TestServer) -> Bool {
        server.log.all.contains { $0.contains("renewals do not come") }
    }

    @Test func `tells where renewals do not come, and counts them`() async throws {
        try await TestServer.with { server in
            try server.publishCatalog()
            let watch = StoreWatch(service: server.service, interval: .seconds(1))
            func record(_ numbers: Range<Int>, until end: Instant) throws {
                let events = try numbers.flatMap { Self.renewing($0, until: end) }.map { line in
                    Submission(
                        event: try Event(validating: JSONValue(parsing: Array(line.utf8)))
                    )
                }
                _ = try server.ledger.appender.record(events)
            }
            try record(0..<90, until: noon.advanced(byMilliseconds: Instant.millisecondsPerDay))
            try record(90..<94, until: noon.advanced(byMilliseconds: -Instant.millisecondsPerDay))
            await watch.look()
            #expect(!Self.told(server), "four of ninety-four")
            try record(94..<96, until: noon.advanced(byMilliseconds: -Instant.millisecondsPerDay))
            await watch.look()
            #expect(Self.told(server))
            let answer = try await server.get("/metrics")
            let samples = try PrometheusReader(answer.body).families.flatMap(\.samples)
            func value(_ state: String) -> Double? {
                samples.first {
                    $0.name == "entitle_store_purchases"
                        && $0.labels == ["store": "app_store", "state": state]
                }?.value
            }
            #expect(value("renewing") == 96 && value("renewal_expected") == 6)
            // Where another machine of a cluster looks by now, this one's counts are of long ago.
            watch.handOver()
            let left = try PrometheusReader(try await server.get("/metrics").body).families
            #expect(!left.flatMap(\.samples).contains { $0.name == "entitle_store_purchases" })
            // Each gets its turn, around the end.
            var (starts, named) = ([Name: UInt64](), [PurchaseName]())
            for _ in 0..<3 {
                let doubts = try server.ledger.questions.purchaseDoubts(
                    in: .production,
                    at: noon,
                    from: starts,
                    limit: 4
                )
                named += doubts.purchases
                starts = doubts.next
            }
            #expect(named.count == 12 && Set(named).count == 6)
        }
    }

    // Stores, rule 3
    @Test func `tells of what Google will take back, as long as its three days last`() async throws
    {
        try await TestServer.with { server in
            try server.publishCatalog()
            let watch = StoreWatch(service: server.service, interval: .seconds(1))
            func unacknowledged() async throws -> (told: Bool, count: Double?) {
                await watch.look()
                let answer = try await server.get("/metrics")
                let sample = try PrometheusReader(answer.body).families.flatMap(\.samples).first {
                    $0.labels == ["store": "play_store", "state": "unacknowledged"]
                }
                let told = server.log.all.contains { $0.contains("were not acknowledged") }
                return (told, sample?.value)
            }
            let bought = ["purchase.completed", "verification.passed"]
            func record(
                _ purchase: String,
                daysAgo: Int64 = 1,
                _ types: [String],
                method: String = "play_signature"
            ) throws {
                try Self.record(purchase, daysAgo, types, by: method, in: server)
            }
            try record("old", daysAgo: 4, bought)
            try record("done", bought + ["purchase.acknowledged"])
            try record("back", bought + ["revocation.refunded"])
            // RevenueCat tells of orders, and acknowledges.
            try record("theirs", bought, method: "store_api")
            #expect(try await unacknowledged() == (false, 0))
            try record("new", bought)
            #expect(try await unacknowledged() == (true, 1))
            // Google's answer names a token and its order.
            try record("asked", bought + ["purchase.linked"], method: "store_api")
            #expect(try await unacknowledged() == (true, 2))
        }
    }

    /// Records events of a purchase on Google Play, of so many days ago.
    private static func record(
        _ purchase: String,
        _ daysAgo: Int64,
        _ types: [String],
        by method: String,
        in server: TestServer
    ) throws {
        let time = noon.advanced(byMilliseconds: -daysAgo * Instant.millisecondsPerDay)
        let data: [String: String] = [
            "purchase.completed": """
            "transactionId":"GPA.\(purchase)","productId":"pro.life",\
            "productKind":"non_consumable","account":"ann"
            """,
            "verification.passed": #""method":"\#(method)""#,
            "purchase.linked": #""alias":"play_store/GPA.\#(purchase)""#,
            "purchase.acknowledged": #""transactionId":"GPA.\#(purchase)""#,
            "revocation.refunded": #""transactionId":"GPA.\#(purchase)""#,
        ]
        let events = try types.map { type in
            let line = """
                {"specversion":"1.0","id":"\(purchase)-\(type)","source":"play_store",\
                "type":"\(type)","subject":"purchase/play_store/\(purchase)",\
                "time":"\(time)","data":{\(data[type] ?? "")}}
                """
            return Submission(
                event: try Event(validating: JSONValue(parsing: Array(line.utf8)))
            )
        }
        _ = try server.ledger.appender.record(events)
    }

    // Stores, rule 3: an account that may ask, and not acknowledge
    @Test(arguments: [false, true])
    func `tells of what Google does not let it acknowledge, whatever else it answers`(
        isPermitted: Bool
    ) async throws {
        let (play, store) = (try SimulatedPlayAPI(), try SimulatedPlayStore())
        let start = noon.advanced(byMilliseconds: -Instant.millisecondsPerDay)
        for (token, state) in [("mine", "PENDING"), ("theirs", "ACKNOWLEDGED")] {
            let answer = store.subscription(
                order: "GPA.\(token)",
                start: start,
                end: noon.advanced(byMilliseconds: 30 * Instant.millisecondsPerDay),
                .members(["acknowledgementState": .string("ACKNOWLEDGEMENT_STATE_" + state)])
            )
            play.set(answer, ofSubscription: token)
        }
        var setup = TestServer.Setup()
        setup.stores.clients.playStore = try Self.google(play) { request in
            !isPermitted && request.url.hasSuffix(":acknowledge") ? StoreResponse(status: 403) : nil
        }
        try await TestServer.with(setup) { server in
            try server.publishCatalog()
            for purchase in ["mine", "theirs"] {
                let types = ["purchase.completed", "verification.passed", "purchase.linked"]
                try Self.record(purchase, 1, types, by: "store_api", in: server)
            }
            let watch = StoreWatch(service: server.service, interval: .seconds(1))
            let (_, next) = await watch.look()
            #expect(next.failing == [])
            await watch.look(from: next)
            let isTold = server.log.all.contains { $0.contains("were not acknowledged") }
            #expect(isTold == !isPermitted)
        }
    }

    /// Google Play's API; `answer`: in place of its own; nil: its own.
    private static func google(
        _ play: SimulatedPlayAPI,
        answer: @escaping @Sendable (StoreRequest) -> StoreResponse?
    ) throws -> StoreClients.PlayStore {
        let now = noon
        return StoreClients.PlayStore(
            api: PlayDeveloperAPI(
                try #require(ServiceAccount(json: play.serviceAccount)),
                caller: StoreCaller(
                    { request in
                        if let given = answer(request) { return given }
                        return await play.transport(request)
                    },
                    clock: { now },
                    sleep: { _ in },
                    random: { 0 }
                ),
                clock: { now }
            ),
            configuration: PlayConfiguration(packageNames: ["com.example.app"])
        )
    }

    /// A server that may ask both stores, with a purchase of each of which they have not told; counts what
    /// Google was asked.
    private static func withBoth(
        _ body:
            @escaping @Sendable (TestServer, SimulatedAppStoreAPI, Counted) async throws -> Void
    ) async throws {
        let appStore = SimulatedAppStoreAPI(try AppStoreWorld.store()) { noon }
        let play = try SimulatedPlayAPI()
        let asked = Counted()
        var setup = try SyncWorld.setup(appStore)
        setup.stores.clients.playStore = try google(play) { _ in
            asked.count.withLock { $0 += 1 }
            return nil
        }
        try await TestServer.with(setup) { server in
            try server.publishCatalog()
            let ended = noon.advanced(byMilliseconds: -Instant.millisecondsPerDay)
            let apple = renewing(1, until: ended)
            let google = renewing(2, until: ended).map {
                $0.replacing("app_store_jws", with: "play_signature")
                    .replacing("app_store", with: "play_store")
            }
            for line in apple + google {
                let event = try Event(validating: JSONValue(parsing: Array(line.utf8)))
                _ = try server.ledger.appender.record([Submission(event: event)])
            }
            try await body(server, appStore, asked)
        }
    }

    private final class Counted: Sendable {
        let count = Mutex(0)
    }

    @Test func `asks one store while another wants to be left alone`() async throws {
        try await Self.withBoth { server, appStore, asked in
            let busy = StoreResponse(status: 429, headers: ["retry-after": "21600"])
            appStore.fail(with: [busy])
            let watch = StoreWatch(service: server.service, interval: .seconds(3600))
            let (run, next) = await watch.look()
            // Google is asked again when its time comes, long before the App Store.
            #expect(run == .failed(notBefore: noon.advanced(byMilliseconds: 3_600_000)))
            #expect(next.failing == ["app_store"] && next.starts["app_store"] == nil)
            #expect((next.starts["play_store"] ?? 0) > 0)
            let (first, firstOfApple) = (asked.count.withLock(\.self), appStore.requests.count)
            #expect(first > 0 && firstOfApple == 1)
            let (again, _) = await watch.look(from: next)
            #expect(again == run)
            #expect(asked.count.withLock(\.self) > first && appStore.requests.count == firstOfApple)
        }
    }

    @Test func `fails where a store lets no question through, and says so`() async throws {
        try await Self.withBoth { server, appStore, _ in
            func isTold() -> Bool {
                server.log.all.contains {
                    $0.contains("told nothing") && $0.contains("not_permitted")
                }
            }
            let watch = StoreWatch(service: server.service, interval: .seconds(3600))
            // Neither store knows of the purchase: that is an answer.
            let (known, _) = await watch.look()
            #expect(known == .done && !isTold(), "the control")
            appStore.fail(with: [StoreResponse(status: 401)])
            let (run, next) = await watch.look()
            #expect(run == .failed() && isTold())
            #expect(next.failing == ["app_store"])
        }
    }
}
