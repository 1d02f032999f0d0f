import Encodings
public import Entitlements
import LedgerAPI

/// The front door of an app: what is open, what is bought, and what the server is still to be told.
///
///     let service = EntitlementService(configuration)
///     await service.start()
///     if service.gate.isOpen("export") { … }
public actor EntitlementService {
    /// What the customer is entitled to.
    public nonisolated let store: EntitlementStore
    let configuration: ServiceConfiguration
    let queue: SyncQueue
    let connection: ServerConnection
    /// Keeps what the store sells.
    let productCache: OfflineCache
    let announcements: Broadcast<ClientNotice>
    /// Hands in what the store tells; nil: nobody listens.
    private(set) var listener: Task<Void, Never>?
    /// Whether it was started, and not stopped since.
    private var isStarted = false
    /// What the store verified when it was asked what its account holds, and who was signed in then.
    private var held = Held()
    /// What names another customer, until an answer of the server says that it is theirs all the same.
    private var leftForOthers: [StoreTransaction] = []
    /// The flow that runs; nil: none does (row 2.2).
    var flow: FlowLog?
    /// The beginning of the last use; nil: there was none.
    var lastUse: Task<UseBeginning, Never>?
    /// The last change of customers, and whether the store is to be asked behind it; nil: there was none.
    private var switching: Task<Bool, Never>?

    /// What the store's account holds.
    private struct Held {
        /// Who was signed in when it was asked.
        var customer: CustomerID?
        var transactions: [VerifiedTransaction] = []
    }

    /// Makes a client; nothing happens before ``start()``.
    public init(_ configuration: ServiceConfiguration) {
        self.init(configuration, storage: FileStorage(path: configuration.folder))
    }

    init(
        _ configuration: ServiceConfiguration,
        storage: any CacheStorage,
        backoff: Backoff = Backoff()
    ) {
        var configuration = configuration
        let clock = ServiceClock(configuration.time)
        configuration.time = clock.time
        self.configuration = configuration
        let announcements = Broadcast<ClientNotice>(.bufferingNewest(Self.noticeLimit))
        self.announcements = announcements
        productCache = OfflineCache(storage: storage, notices: announcements)
        connection = ServerConnection(
            url: configuration.serverURL,
            transport: configuration.transport,
            time: configuration.time,
            token: configuration.token
        )
        store = EntitlementStore(
            configuration.customer,
            cache: OfflineCache(storage: storage, notices: announcements),
            connection: connection,
            options: EntitlementStore.Options(
                environment: configuration.environment,
                issuer: configuration.origin,
                pinned: configuration.pinnedKeys,
                builtIn: configuration.builtInGates,
                clock: clock
            ),
            notices: announcements
        )
        queue = SyncQueue(
            configuration.customer,
            storage: storage,
            connection: connection,
            environment: configuration.environment,
            time: configuration.time,
            backoff: backoff,
            notices: announcements,
            finish: { [purchases = configuration.purchases] in await purchases?.finish($0) }
        )
    }

    /// Notices that are kept for whoever does not listen just now.
    private static let noticeLimit = 100

    /// What an app may want to know, from now on.
    public nonisolated var notices: AsyncStream<ClientNotice> { announcements.stream() }

    /// Whether features are open now: a value, which is asked without I/O (row CL6).
    public nonisolated var gate: FeatureGate { store.gate }

    /// The store of the device, where something may be bought (row ES7).
    var purchases: (any PurchaseServicing)? {
        configuration.arePurchasesEnabled ? configuration.purchases : nil
    }
}

/// Beginning, ending, and whose it is.
extension EntitlementService {
    /// Answers by what was kept, listens to the store and asks it what its account holds, and meanwhile tells
    /// the server what waits and asks it (rows 3.3, CL5).
    @discardableResult
    public func start() async -> RefreshResult {
        isStarted = true
        await store.load { [weak self] in await self?.askServer() }
        await queue.start { [weak self] in _ = await self?.sync() }
        await openProvisionally()
        listen()
        return await askBoth()
    }

    /// Asks the server, and meanwhile the store what its account holds, for whoever is signed in: a store that is
    /// slow keeps nobody from the server's answer.
    private func askBoth() async -> RefreshResult {
        let customer = store.customer
        let asked = Task { await sync() }
        // A store that says nothing opens nothing, and what it verified before stays.
        guard let purchases, let verified = try? await purchases.currentEntitlements(),
            store.customer == customer
        else { return await asked.value }
        await queue.verified(verified)
        let now = configuration.time.now()
        held = Held(
            customer: customer,
            transactions: verified.map { VerifiedTransaction(transaction: $0, at: now) }
        )
        await openProvisionally()
        let result = await asked.value
        // By the server's clock, where this device's was behind: what was verified just now is not old (row Z17).
        if store.customer == customer {
            await queue.verified(verified)
            await openProvisionally()
        }
        return result
    }

    /// Ends what runs by itself; what is known stays and answers.
    public func stop() async {
        isStarted = false
        stopListening()
        await queue.stop()
        await store.stop()
    }

    /// Asks anew, and tries again what waits: the app came to the front (row CL5).
    @discardableResult
    public func applicationDidBecomeActive() async -> RefreshResult { await retry() }

    /// Tries again what waits for somebody to do so (rows 8.1, 6.6).
    @discardableResult
    public func retry() async -> RefreshResult {
        await queue.retry()
        await store.lift()
        return await sync()
    }

    /// Goes on with another customer, or with nobody: everything of the last one is emptied at once,
    /// files included, then the server is asked about the new one (row CL5).
    ///
    /// What was bought and not recorded yet the store hands in again: it was never finished. What names another
    /// customer waits for them.
    @discardableResult
    public func switchCustomer(to customer: CustomerID?) async -> RefreshResult {
        let before = switching
        // One behind the other: who was named last is signed in.
        let turn = Task {
            _ = await before?.value
            return await change(to: customer)
        }
        switching = turn
        // Behind its turn: a store that does not answer keeps nobody from signing out.
        return await turn.value ? await askBoth() : await sync()
    }

    /// Returns whether nobody has asked the store yet what its account holds for whoever is signed in now.
    private func change(to customer: CustomerID?) async -> Bool {
        // Whoever signs in again loses nothing by it.
        guard customer != store.customer else { return false }
        let wasNobody = store.customer == nil
        stopListening()
        flow?.note(.failed(ServiceError(.cancelled)))
        (flow, held, leftForOthers) = (nil, Held(), [])
        await connection.forgetToken()
        await queue.switchCustomer(to: customer)
        await store.switchCustomer(to: customer)
        // What waits of whoever comes back is open before anybody has answered (row 3.4).
        await openProvisionally()
        // A start meanwhile listened for the last one: what the store tells would be nobody's.
        stopListening()
        listen()
        return wasNobody && isStarted
    }

    /// Hands in what the store tells by itself, from a start until a stop.
    private func listen() {
        guard isStarted, listener == nil, let purchases, let customer = store.customer else {
            return
        }
        let stream = purchases.transactions
        listener = Task { [weak self] in
            for await update in stream { await self?.take(update, for: customer) }
        }
    }

    private func stopListening() {
        listener?.cancel()
        listener = nil
    }

    private func take(_ update: TransactionUpdate, for customer: CustomerID) async {
        switch update {
        case .unverified: announcements.send(.unverifiedTransaction)
        case .verified(let transaction):
            // Another customer's stays unfinished: the store tells it anew once they have signed in (row CL5).
            guard !store.current.isAnothers(transaction) else {
                if store.customer == customer, !leftForOthers.contains(transaction) {
                    leftForOthers.append(transaction)
                }
                return
            }
            await queue.add(.claim(transaction), for: customer)
            await openProvisionally()
            // Not waited for: what comes meanwhile goes with it (row ES4).
            Task { await self.sync() }
        }
    }

    /// Opens what waits to be recorded (row 3.4).
    ///
    /// What the store's account holds is open too, where what was kept cannot have seen it: the files
    /// are gone, or it was renewed meanwhile. The server's next answer replaces it. What changes while the
    /// store is told is told behind it.
    func openProvisionally() async {
        var told: [ProvisionalAccess]?
        while true {
            var unseen: [VerifiedTransaction] = []
            let (refused, known) = (await queue.refused, store.current)
            if let customer = store.customer, customer == held.customer {
                unseen = held.transactions.filter {
                    !refused.contains($0.transaction.id) && known.isOlder(than: $0.transaction)
                }
            }
            let provisional = await queue.provisional(beside: unseen, knowing: known)
            if provisional == told { return }
            await store.set(provisional: provisional)
            await showUses()
            told = provisional
        }
    }

    /// Tells the server what waits, asks it, and forgets what its answer has seen.
    @discardableResult
    func sync() async -> RefreshResult {
        await queue.send()
        return await askServer()
    }

    /// Asks the server, and forgets what its answer has seen.
    @discardableResult
    func askServer() async -> RefreshResult {
        let recorded = await queue.recorded
        let result = await store.refresh(seeing: await queue.recordedSize)
        if case .refreshed = result {
            let seen = store.current.sequence
            await queue.settle(recorded, seenAt: seen)
            await takeWhatWasLeft()
            if await store.leastSize.missed != nil {
                await queue.sendAgain(above: seen)
                await queue.send()
            }
        }
        await openProvisionally()
        return result
    }

    /// Hands in what names another customer where the server says by now that it is theirs (C1).
    private func takeWhatWasLeft() async {
        let known = store.current
        let theirs = leftForOthers.filter { !known.isAnothers($0) }
        guard let owner = known.customer, !theirs.isEmpty else { return }
        leftForOthers.removeAll { theirs.contains($0) }
        for transaction in theirs { await queue.add(.claim(transaction), for: owner) }
        await queue.send()
    }
}
