import Encodings
import EntitlementLedger
import Entitlements
import HummingbirdTesting
import LedgerAPI
import LedgerOperations
import Scenarios
import StoreSimulator
import Stores
import Synchronization
import Testing

@testable import LedgerServer

/// The simulated stores over HTTP, on both sides: they tell a server, which asks them (row Z7, row Z21;
/// Stores, rule 9).
struct `Simulated stores` {
    private static let keys = Result { try ScenarioRun.keys(around: noon) }
    private static let strangers = Result { try ScenarioRun.keys(around: noon) }

    /// What is served, and the server that it tells.
    private struct World: Sendable {
        var server: TestServer
        var stores: SimulatedStores
        var feed: ScenarioFeed
        var scenarios: [Scenario]
        var clients: StoreClients
        /// By which the stores are asked.
        var time: ScenarioClock

        /// What does not hold, by scenario.
        func failures(after delivery: ScenarioDelivery) throws -> [String] {
            try scenarios.flatMap { scenario in
                try scenario.failures(in: server.ledger, after: delivery, isRecordedThen: false)
                    .map { "\(scenario.id) \($0.expectation): \($0.detail)" }
            }
        }

        /// Tells everything; returns each attempt, and how many messages nobody took.
        func tell() async throws -> (attempts: [ScenarioFeed.Attempt], untaken: Int) {
            let attempts = Mutex<[ScenarioFeed.Attempt]>([])
            let port = server.client.port ?? 0
            let clock = server.clock
            let untaken = try await feed.run(
                to: { "http://localhost:\(port)/v1/signals/\(Self.paths[$0] ?? "")" },
                now: { clock.now },
                reach: { _ in },
                send: HTTPStoreTransport.send,
                tell: { attempt in attempts.withLock { $0.append(attempt) } }
            )
            return (attempts.withLock(\.self), untaken)
        }

        private static let paths: [ScenarioStore: String] = [
            .appStore: "app-store", .playStore: "play", .revenueCat: "revenuecat",
        ]

        /// Asks the stores about everybody, as `entitle sync` does.
        func sync() async throws -> Bool {
            let sync = StoreSync(
                server.ledger,
                clients,
                pool: server.service,
                clock: { [time] in time.now },
                makeID: { String(UInt64.random(in: 0...(.max))) }
            )
            let answer = try await StoreBackfill(sync, in: .production).run(
                since: nil,
                isInterrupted: { false },
                progress: { _, _, _ in }
            )
            var isWhole = answer.isWhole
            for customer in Set(scenarios.flatMap(\.expectations).map(\.customer)) {
                isWhole = try await sync.sync(customer, in: .production).isWhole && isWhole
            }
            return isWhole
        }
    }

    /// Lends a server that trusts stores which are served, by the `stores.json` that they write.
    ///
    /// `trusted`: the keys of others, which it trusts and asks in their place; nil: nobody's.
    private static func with(
        _ ids: Set<String>,
        _ delivery: ScenarioDelivery = ScenarioDelivery(),
        trusted: SimulatedKeys? = nil,
        _ body: @escaping @Sendable (World) async throws -> Void
    ) async throws {
        let found = try PublishedScenarios.all().filter { ids.contains($0.id) }
        let start = Scenario.start(of: found, endingBy: noon)
        let scenarios = found.enumerated().map { $0.element.placed($0.offset + 7, from: start) }
        #expect(scenarios.count == ids.count)
        let clock = ScenarioClock(start)
        let time = ScenarioClock(noon)
        let stores = try SimulatedStores(
            keys.get(),
            clock: { time.now },
            signedAt: { clock.now }
        )
        let feed = try ScenarioFeed(scenarios, stores, delivery, clock: clock)
        let asked =
            try trusted.map {
                try SimulatedStores($0, clock: { noon }, signedAt: { noon })
            } ?? stores
        try await StoreStandIn.serve(port: 0, asked.transport) { port in
            let keys = asked.keys
            let text = keys.configuration(at: "http://127.0.0.1:\(port)").description
            let files = try keys.trustedFiles()
            let configuration = try StoresConfiguration(parsing: Array(text.utf8)) { name in
                Array((files.first { $0.name == name }?.text ?? "").utf8)
            }
            var policy = StoreCaller.Policy()
            policy.firstDelay = 1
            let verifier = try StoresFile.appStoreVerifier(configuration)
            let clients = StoreClients(
                configuration,
                verifier: verifier,
                policy: policy,
                clock: { time.now }
            )
            var setup = TestServer.Setup()
            setup.isLive = true
            setup.stores = StoreAccess(
                appStore: verifier,
                playStore: configuration.playStore,
                playPush: PlayPushVerifier(configuration.playStore?.push),
                clients: clients,
                revenueCat: RevenueCatAuthentication(
                    authorization: configuration.revenueCat?.authorization,
                    hmacSecret: nil
                )
            )
            try await TestServer.with(setup) { server in
                _ = try server.ledger.appender.publish(
                    try ScenarioProducts.catalog(policy: "keep"),
                    effective: nil,
                    Request(id: "catalog", source: "catalog", environment: .production)
                )
                try await body(
                    World(
                        server: server,
                        stores: stores,
                        feed: feed,
                        scenarios: scenarios,
                        clients: clients,
                        time: time
                    )
                )
            }
        }
    }

    @Test func `tell a server that trusts them, and answer it`() async throws {
        let ids: Set<String> = [
            "grace_recovered", "refund_reversed", "play_hold_recovered", "play_token_chain",
            "play_revoked", "revenuecat_grace_lost", "told_by_apple_and_revenuecat",
        ]
        try await Self.with(ids) { world in
            // The control: nothing holds before it is told.
            #expect(try !world.failures(after: ScenarioDelivery()).isEmpty)
            let told = try await world.tell()
            // A busy machine may keep a store waiting, which then sends again.
            let refused = told.attempts.filter { ($0.response?.status ?? 500) / 100 == 4 }
            #expect(told.untaken == 0 && refused.isEmpty)
            #expect(try world.failures(after: ScenarioDelivery()) == [])
            #expect(world.stores.playAPI.requests.count > 5)
        }
    }

    // row 8.3, row Z12
    @Test(arguments: [
        ScenarioDelivery(seed: 5, duplicatePercent: 30, losePercent: 40),
        ScenarioDelivery(seed: 6, outagePercent: 60), ScenarioDelivery(outagePercent: 80),
    ])
    func `answer a sync about what never came`(_ delivery: ScenarioDelivery) async throws {
        // All of the last half year: the App Store tells no more.
        let ids: Set<String> = [
            "grace_recovered", "refund_of_the_current_period", "revenuecat_renewals",
        ]
        try await Self.with(ids, delivery) { world in
            let told = try await world.tell()
            #expect(told.untaken == 0)
            #expect(try !world.failures(after: ScenarioDelivery()).isEmpty)
            // The App Store knows nothing of what RevenueCat alone tells.
            #expect(try await !world.sync())
            let failures = try world.failures(after: delivery)
            #expect(failures == [], "\(failures)")
        }
    }

    @Test func `answer nothing in an outage, and nothing comes of it`() async throws {
        try await Self.with(["renewal_chain"]) { world in
            _ = try await world.tell()
            let size = try world.server.ledger.questions.size()
            world.stores.isOut = true
            #expect(try await !world.sync())
            #expect(try world.server.ledger.questions.size() == size)
            world.stores.isOut = false
            // Stores that fail often are left alone for a while.
            world.time.pass(to: noon.plus(seconds: 60))
            #expect(try await world.sync())
        }
    }

    // Stores, rule 9: an authority that nobody configured is a stranger's
    @Test func `are believed by nobody who was not told to`() async throws {
        let ids: Set<String> = ["grace_recovered", "play_revoked", "revenuecat_renewals"]
        try await Self.with(ids, trusted: Self.strangers.get()) { world in
            let size = try world.server.ledger.questions.size()
            let told = try await world.tell()
            #expect(told.untaken == world.feed.counts.sent)
            // Refused is tried again, as the stores do.
            #expect(told.attempts.count > told.untaken)
            #expect(told.attempts.allSatisfy { !$0.isTaken })
            #expect(told.attempts.contains { ($0.response?.status ?? 500) / 100 == 4 })
            let customers = Set(world.scenarios.flatMap(\.expectations).map(\.customer))
            for customer in customers {
                let purchases = try await world.server.state(customer.text)["purchases"]
                #expect(purchases?.array?.isEmpty == true, "\(purchases ?? .null)")
            }
            // What is refused is counted, no more.
            #expect(try world.server.ledger.questions.size() < size + 5)
        }
    }
}
