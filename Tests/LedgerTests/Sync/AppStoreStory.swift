import Encodings
import EntitlementLedger
import Entitlements
import LedgerAPI
import LedgerOperations
import StoreSimulator
import Stores
import Testing

/// What one Apple Account does, day by day of 2026, and a ledger that is told of it or asks.
struct AppStoreStory {
    static let customer: CustomerID = "7f3c9a52-6b1e-4d0f-8a2b-1c2d3e4f5a6b"
    private static let shared = Result {
        SimulatedAppStore(
            authority: try SigningAuthority(validity: Sample.day(-300)..<Sample.day(900))
        )
    }

    let store: SimulatedAppStore
    private(set) var verifier: AppStoreVerifier
    var account: SimulatedAppleAccount

    init() throws {
        store = try Self.shared.get()
        verifier = try Self.verifier(appAppleID: store.appAppleID, of: store)
        account = SimulatedAppleAccount(1, token: Self.customer.text, of: store)
    }

    /// The same where the ledger is told another number of the app.
    func expecting(appAppleID: Int64?) throws -> AppStoreStory {
        var story = self
        story.verifier = try Self.verifier(appAppleID: appAppleID, of: store)
        return story
    }

    private static func verifier(
        appAppleID: Int64?,
        of store: SimulatedAppStore
    ) throws -> AppStoreVerifier {
        try AppStoreVerifier(
            AppStoreConfiguration(
                bundleIDs: [store.bundleID],
                appAppleID: appAppleID,
                roots: [store.authority.root]
            )
        )
    }

    static let month = SimulatedAppleAccount.Product(
        id: "pro.month",
        type: "Auto-Renewable Subscription",
        period: 30 * Instant.millisecondsPerDay,
        price: 9_990
    )
    static let plus = SimulatedAppleAccount.Product(
        id: "plus.month",
        type: "Auto-Renewable Subscription",
        period: 30 * Instant.millisecondsPerDay,
        price: 19_990
    )
    static let lifetime = SimulatedAppleAccount.Product(
        id: "pro.life",
        type: "Non-Consumable",
        period: nil,
        price: 99_990
    )

    /// Renewed, in grace, recovered after it, cancelled, expired; an older month refunded beside.
    static func wholeLife() throws -> AppStoreStory {
        var story = try AppStoreStory()
        story.account.buy(month, at: Sample.day(1))
        story.account.renew(0, at: Sample.day(31))
        story.account.failRenewal(0, graceUntil: Sample.day(64), at: Sample.day(61))
        story.account.endGrace(0, at: Sample.day(64))
        story.account.renew(0, at: Sample.day(70))
        story.account.refund(0, at: Sample.day(75))
        story.account.setRenewal(0, false, at: Sample.day(80))
        story.account.expire(0, at: Sample.day(100))
        return story
    }

    /// What each notification comes to, in their order.
    func told() async throws -> [Submission] {
        var told: [Submission] = []
        for notification in account.notifications {
            let body = JSONValue.members([
                "signedPayload": .string(
                    String(decoding: try store.signed(notification), as: UTF8.self)
                )
            ])
            let outcomes = await AppStoreImport.outcomes(
                of: body,
                verifier: verifier,
                now: notification.time
            )
            told += try outcomes.map { try $0.get() }
        }
        return told
    }

    /// A ledger on a day, which was told of some of it.
    func ledger<Result>(
        on day: Int64,
        told places: [Int],
        _ body: (ScratchLedger, SimulatedAppStoreAPI) async throws -> Result
    ) async throws -> Result {
        let told = try await told()
        let clock = TestClock(Sample.day(day))
        return try await ScratchLedger.with(clock: clock) { scratch in
            let request = Request(id: "c", source: Source.catalog, environment: .production)
            _ = try scratch.ledger.appender.publish(Self.catalog(), effective: nil, request)
            for place in places {
                guard case .appended = try scratch.ledger.appender.record(told[place]) else {
                    Issue.record("not appended: \(told[place])")
                    continue
                }
            }
            let api = SimulatedAppStoreAPI(store) { clock.now }
            api.set([account])
            return try await body(scratch, api)
        }
    }

    /// Asks the App Store about the customer.
    func sync(_ scratch: ScratchLedger, _ api: SimulatedAppStoreAPI) async throws -> SyncAnswer {
        try await storeSync(scratch, api).sync(Self.customer, in: .production)
    }

    /// What asks the App Store; `transport`: what carries the questions; nil: they go straight to it.
    func storeSync(
        _ scratch: ScratchLedger,
        _ api: SimulatedAppStoreAPI,
        by transport: StoreTransport? = nil,
        about bundleIDs: [String]? = nil
    ) throws -> StoreSync {
        let clock = scratch.clock
        let caller = StoreCaller(
            transport ?? api.transport,
            clock: { clock.now },
            sleep: { _ in },
            random: { 0 }
        )
        let client = AppStoreServerAPI(
            // At an address that is named, the App Store sets no pace: time stands still here.
            try api.access(apiURL: AppStoreServerAPI.productionURL),
            bundleIDs: bundleIDs ?? [store.bundleID],
            caller: caller,
            clock: { clock.now }
        )
        let appStore = StoreClients.AppStore(api: client, verifier: verifier)
        return StoreSync(
            scratch.ledger,
            StoreClients(appStore: appStore),
            pool: DispatchPool(),
            clock: { clock.now },
            makeID: { String(UInt64.random(in: 0...(.max))) }
        )
    }

    /// Whether the feature is allowed a minute after each day began.
    func access(_ scratch: ScratchLedger, at days: [Int64]) throws -> [Bool] {
        try days.map { day in
            let at = Sample.day(day).advanced(byMilliseconds: 60_000)
            let shown = try scratch.show(Self.customer, at: at)
            return shown["features"]?["pro"]?["allowed"]?.bool ?? false
        }
    }

    private static func catalog() throws -> JSONValue {
        try Sample.json(
            """
            {"tiers":["free","pro"],"features":[{"id":"pro"}],
             "products":[{"id":"pro.month","kind":"auto_renewable","unlocks":{"tier":"pro"}},
                         {"id":"plus.month","kind":"auto_renewable","unlocks":{"tier":"pro"}},
                         {"id":"pro.life","kind":"non_consumable","unlocks":{"tier":"pro"}}]}
            """
        )
    }
}
