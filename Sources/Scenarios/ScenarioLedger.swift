import Encodings
import EntitlementLedger
import Entitlements
import EventLog
import LedgerAPI
import LedgerOperations
import StoreSimulator
import Stores

/// A ledger in memory beside simulated stores: it takes what they send as a server does, and asks them
/// as a sync does.
struct ScenarioLedger {
    /// Plants a fault in what a message comes to.
    typealias Change = @Sendable (Submission) -> Submission

    let ledger: Ledger
    private let clock: ScenarioClock
    private let verifier: AppStoreVerifier
    private let clients: StoreClients
    private let play: PlayConfiguration
    private let change: Change?

    /// Makes one that trusts the stores, and has a catalog.
    ///
    /// `policy`: the catalog's `policy.claim`. `told`: the stores that are asked.
    init(
        _ stores: SimulatedStores,
        policy: String,
        askingOf told: Set<ScenarioStore>,
        clock: ScenarioClock,
        change: Change?
    ) throws {
        self.clock = clock
        self.change = change
        verifier = try AppStoreVerifier(
            AppStoreConfiguration(
                bundleIDs: [stores.appStore.bundleID],
                appAppleID: stores.appStore.appAppleID,
                roots: [stores.keys.authority.root]
            )
        )
        play = PlayConfiguration(packageNames: [Name(stores.keys.playStore.packageName)])
        clients = try Self.clients(of: stores, told, verifier, play, clock)
        ledger = try Self.ledger(clock)
        let published = try ledger.appender.publish(
            try ScenarioProducts.catalog(policy: policy),
            effective: nil,
            Request(id: "catalog", source: Source.catalog, environment: .production)
        )
        guard case .appended = published else { preconditionFailure("the catalog: \(published)") }
    }

    // MARK: Messages

    /// Takes a message that comes now, the one of a number.
    func take(_ message: ScenarioMessage, _ number: Int) async throws {
        let now = message.at.advanced(byMilliseconds: Instant.millisecondsPerDay)
        func request(_ environment: StoreEnvironment = .production) -> Request {
            Request(id: "request-\(number)", source: Source.app, environment: environment)
        }
        switch message.content {
        case .notification(let body):
            let outcomes = await AppStoreImport.outcomes(
                of: try JSONValue(parsing: body),
                body: body,
                verifier: verifier,
                now: now
            )
            for outcome in outcomes { try record(try outcome.get()) }
        case .push(let body): try await take(push: body)
        case .webhook(let body):
            let webhook = try UnverifiedRevenueCatWebhook.reading(bytes: body).get()
            try record(
                RevenueCatMapping.submission(
                    for: webhook.trusting(.authenticatedRequest, receivedAt: clock.now),
                    body: body
                )
            )
        case .transaction(let jws, let customer):
            let found = await verifier.transaction(jws, now: now)
            guard case .success(let transaction) = found, let purchase = transaction.purchase
            else { return }
            let facts = AppStoreMapping.submission(for: transaction)
            _ = try ledger.appender.claim(
                VerifiedTransaction(purchase: purchase, facts: facts),
                for: customer,
                request(facts.environment)
            )
        case .token(let token, let customer):
            guard let api = clients.playStore?.api, let purchase = PurchaseName.play(token),
                let packageName = play.packageNames.first
            else { return }
            let body = try await api.answer(of: token, packageName: packageName.description)
            let facts = try facts(body)
            _ = try ledger.appender.claim(
                VerifiedTransaction(purchase: purchase, facts: facts.submission),
                for: customer,
                request()
            )
        case .claim(let originalID, let customer):
            _ = try ledger.appender.claim(
                PurchaseName(store: Source.appStore, originalID: originalID),
                for: customer,
                request()
            )
        }
    }

    /// A push is a hint: what is true the API says (Stores, rule 3).
    private func take(push body: [UInt8]) async throws {
        let push = try UnverifiedPlayPush.reading(
            bytes: body,
            packageNames: play.packageNames,
            now: clock.now
        ).get().trusting(.authenticatedRequest)
        if let api = clients.playStore?.api, let answer = try await api.answer(to: push, body: body)
        {
            let facts = try facts(answer)
            try record(facts.submission)
            if let purchase = facts.acknowledgement {
                try await api.acknowledge(purchase)
                try record(purchase.submission(at: clock.now))
            }
        }
        try record(PlayMapping.submission(for: push, body: body))
    }

    private func facts(_ answer: [UInt8]) throws -> PlayFacts {
        try PlayMapping.facts(
            ofAnswer: answer,
            packageNames: play.packageNames,
            now: clock.now
        ).get()
    }

    private func record(_ submission: Submission) throws {
        _ = try ledger.appender.record(change?(submission) ?? submission)
    }

    // MARK: Questions to the stores

    /// Asks the stores about everybody, and RevenueCat, which is asked by customers, about some.
    ///
    /// - Returns: whether all of them told all.
    func fetch(_ customers: Set<CustomerID>) async throws -> Bool {
        let sync = StoreSync(
            ledger,
            clients,
            pool: DispatchPool(),
            clock: { [clock] in clock.now },
            makeID: { String(UInt64.random(in: 0...(.max))) }
        )
        let told = try await StoreBackfill(sync, in: .production).run(
            since: nil,
            isInterrupted: { false },
            progress: { _, _, _ in }
        )
        var isWhole = told.isWhole
        guard clients.revenueCat != nil else { return isWhole }
        for customer in customers.sorted() {
            isWhole = try await sync.sync(customer, in: .production).isWhole && isWhole
        }
        return isWhole
    }

    private static func clients(
        of stores: SimulatedStores,
        _ told: Set<ScenarioStore>,
        _ verifier: AppStoreVerifier,
        _ play: PlayConfiguration,
        _ clock: ScenarioClock
    ) throws -> StoreClients {
        func caller(_ transport: @escaping StoreTransport) -> StoreCaller {
            StoreCaller(
                transport,
                clock: { clock.now },
                sleep: { _ in },
                random: { 0 }
            )
        }
        var clients = StoreClients()
        if told.contains(.appStore) {
            let api = AppStoreServerAPI(
                try stores.appStoreAPI.access(apiURL: base + SimulatedStores.appStorePath),
                bundleIDs: [stores.appStore.bundleID],
                caller: caller(stores.transport),
                clock: { clock.now }
            )
            clients.appStore = StoreClients.AppStore(api: api, verifier: verifier)
        }
        let path = base + SimulatedStores.playPath
        if told.contains(.playStore),
            let account = ServiceAccount(
                json: stores.playAPI.serviceAccount,
                tokenURL: path + SimulatedPlayAPI.tokenPath
            )
        {
            let api = PlayDeveloperAPI(
                account,
                caller: caller(stores.transport),
                baseURL: path,
                clock: { clock.now }
            )
            clients.playStore = StoreClients.PlayStore(api: api, configuration: play)
        }
        if told.contains(.revenueCat) {
            clients.revenueCat = RevenueCatAPI(
                key: Array(stores.keys.revenueCatKey.utf8),
                projectID: SimulatedKeys.revenueCatProject,
                baseURL: base + SimulatedStores.revenueCatPath,
                caller: caller(stores.transport),
                clock: { clock.now }
            )
        }
        return clients
    }

    /// Nobody listens there: questions are carried to the stores by hand.
    private static let base = "http://127.0.0.1:1"

    private static func ledger(_ clock: ScenarioClock) throws -> Ledger {
        try Ledger(
            identity: LedgerIdentity(
                id: Array(repeating: 0, count: LedgerIdentity.idByteCount),
                origin: "scenario.example/log"
            ),
            log: MemoryLog(),
            vault: try MemoryVault(randomness: .system),
            options: Ledger.Options(
                viewsPath: nil,
                isReadOnly: false,
                clock: { clock.now }
            )
        )
    }
}
