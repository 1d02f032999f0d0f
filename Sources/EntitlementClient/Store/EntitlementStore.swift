import Encodings
public import Entitlements
import LedgerAPI
import Synchronization

/// What the customer of this device is entitled to, kept up to date (row ES3).
///
/// ``current`` answers at once from memory; it is empty before the first refresh where nothing was
/// kept, and no error empties it. The server's word, once seen, wins.
public actor EntitlementStore {
    let cache: OfflineCache
    private let connection: ServerConnection
    let options: Options
    let notices: Broadcast<ClientNotice>
    let changes = Broadcast<CustomerEntitlements>(.bufferingNewest(1))
    /// What is answered without waiting for anybody.
    private let shared: Mutex<Shared>

    private var queue = RefreshQueue()
    private var waiters: [UInt64: [CheckedContinuation<RefreshResult, Never>]] = [:]
    private var keys: TrustedKeys?
    private var kept: KeptGates?
    var newestSeen: Instant?
    var alarm: Task<Void, Never>?
    private(set) var isStarted = false
    /// Whether all files were read, or the server has answered: what is in memory is newer from then on.
    private var isLoaded = false
    /// Questions in a row that nobody answered.
    var failures: Int64 = 0
    /// When the last of them is asked again by itself; nil: it is not.
    var retryAt: Instant?
    /// How a clock that was behind was put right; nil: none was.
    var correction: ClockCorrection?
    /// Grows with each switch of customers: what was asked for before counts for nobody.
    private var generation: UInt64 = 0
    /// What the next answer must have seen.
    private(set) var leastSize = LeastSize()
    /// Asks the server in this one's stead, with all that follows from an answer; nil: nobody does.
    private var asking: (@Sendable () async -> RefreshResult?)?

    private struct Shared: Sendable {
        var customer: CustomerID?
        private(set) var known: FeatureGate.Known

        init(_ customer: CustomerID?, gates: GateMap?) {
            self.customer = customer
            known = FeatureGate.Known(CustomerEntitlements(unknown: customer), gates: gates)
        }

        var entitlements: CustomerEntitlements {
            get { known.entitlements }
            set { known = FeatureGate.Known(newValue, gates: known.gates) }
        }
        var gates: GateMap? {
            get { known.gates }
            set { known = FeatureGate.Known(known.entitlements, gates: newValue) }
        }
    }

    /// How long a clock may be behind before that is said: the zone's and the network's moments.
    static let clockTolerance: Int64 = 300_000
    /// How much newer a time must be to be kept: the disk is left alone meanwhile.
    static let seenStep: Int64 = 3_600_000

    init(
        _ customer: CustomerID?,
        cache: OfflineCache,
        connection: ServerConnection,
        options: Options,
        notices: Broadcast<ClientNotice>
    ) {
        self.cache = cache
        self.connection = connection
        self.options = options
        self.notices = notices
        keys = options.pinned
        shared = Mutex(Shared(customer, gates: options.builtIn))
    }
}

/// What is answered at once.
extension EntitlementStore {
    /// What is known now; no I/O, and nobody is waited for.
    public nonisolated var current: CustomerEntitlements {
        shared.withLock { $0.entitlements }
    }

    /// The customer; nil: nobody is signed in.
    public nonisolated var customer: CustomerID? { shared.withLock { $0.customer } }

    /// Whether features are open now: a value, which is asked without a lock (row CL6).
    public nonisolated var gate: FeatureGate {
        let now = options.clock.now
        return shared.withLock { FeatureGate($0.known, at: now) }
    }

    /// Tells what is known now and each change of it, by time too.
    ///
    /// Who reads slowly sees the newest only. Each call makes a stream of its own.
    public nonisolated var updates: AsyncStream<CustomerEntitlements> {
        changes.stream { self.current }
    }
}

/// Beginning and ending.
extension EntitlementStore {
    /// Loads what was kept, then asks the server (rows 3.3, CL5); started again it only asks.
    ///
    /// What was kept answers before the server is reached.
    @discardableResult
    public func start() async -> RefreshResult {
        load()
        return await refresh()
    }

    /// Begins, by what was kept.
    ///
    /// `asking`: asks the server in this one's stead from now on, by ``refresh(seeing:)``; nil: who did before.
    func load(asking: (@Sendable () async -> RefreshResult?)? = nil) {
        if let asking { self.asking = asking }
        guard !isStarted else { return }
        isStarted = true
        (failures, retryAt) = (0, nil)
        readKept()
        noteTime(serverSays: nil)
        setAlarm()
    }

    /// Reads what was kept, and again until all of it could be read or the server has answered.
    private func readKept() {
        guard !isLoaded else { return }
        isLoaded = true
        if options.pinned == nil, let read = cache.keys() { keys = read.joined(with: keys) }
        if let ahead = cache.clockAhead() { options.clock.resume(ahead: ahead) }
        loadKept()
    }

    /// Answers by what was kept of whoever is signed in.
    private func loadKept() {
        defer { isLoaded = isLoaded && cache.unread.isEmpty }
        guard let subject else { return }
        let loaded = cache.load(for: subject, by: keys)
        newestSeen = loaded.newestSeen
        kept = loaded.gates
        publish(loaded.snapshot?.entitlements, gates: loaded.gates?.map)
    }

    /// Ends what runs by itself; what is known stays and answers.
    public func stop() {
        isStarted = false
        alarm?.cancel()
        alarm = nil
    }

    /// Goes on with another customer, or with nobody (row CL5).
    ///
    /// What was known is emptied at once, its files included; of whoever comes where nobody was, what was kept
    /// answers. The next ``refresh()`` asks for the new one.
    func switchCustomer(to customer: CustomerID?) {
        let wasNobody = self.customer == nil
        generation &+= 1
        (kept, newestSeen, leastSize) = (nil, nil, LeastSize())
        (failures, retryAt) = (0, nil)
        shared.withLock { $0 = Shared(customer, gates: options.builtIn) }
        if wasNobody {
            loadKept()
        } else {
            cache.removeAll()
        }
        setAlarm()
        changes.send(current)
    }

    private var subject: SnapshotSubject? {
        customer.map {
            SnapshotSubject(
                customer: $0,
                environment: options.environment,
                issuer: options.issuer
            )
        }
    }
}

/// Asking the server.
extension EntitlementStore {
    /// Asks the server what the customer is entitled to; many at once are one call (row ES4).
    ///
    /// An error empties nothing: what is known stays, and the result says why (row ES3).
    @discardableResult
    public func refresh() async -> RefreshResult {
        // Whoever asked for it, the answer replaces what was open provisionally (row 3.4).
        if let result = await asking?() { return result }
        return await refresh(seeing: nil)
    }

    /// Asks for an answer that has seen a prefix of the log: what was just recorded; nil: any will do.
    func refresh(seeing size: UInt64?) async -> RefreshResult {
        leastSize.ask(for: size)
        let number = queue.ask()
        return await withCheckedContinuation { continuation in
            waiters[number, default: []].append(continuation)
            if queue.running == nil { Task { await self.runRefreshes() } }
        }
    }

    /// Runs what waits, one after the other; a second runner finds nothing to do.
    private func runRefreshes() async {
        while let number = queue.begin() {
            let result = await ask()
            queue.end()
            for waiter in waiters.removeValue(forKey: number) ?? [] {
                waiter.resume(returning: result)
            }
        }
    }

    private func ask() async -> RefreshResult {
        guard let subject else { return .signedOut }
        readKept()
        let asked = generation
        let fetched = await snapshot(of: subject)
        guard asked == generation else { return .signedOut }
        switch fetched {
        case .failure(let fault):
            if fault.verdict == .tokenRefused { notices.send(.tokenRefused(fault.error)) }
            noteTime(serverSays: nil)
            askAgain(after: fault.verdict)
            return .kept(fault.error)
        case .success(let snapshot):
            (isLoaded, failures, retryAt) = (true, 0, nil)
            noteClock(serverSays: snapshot.entitlements.asOf)
            leastSize.see(snapshot.entitlements.sequence)
            cache.keep(snapshot)
            await fetchGates(vouchedBy: snapshot, asked)
            guard asked == generation else { return .signedOut }
            publish(snapshot.entitlements, gates: kept?.map)
            noteTime(serverSays: snapshot.entitlements.asOf)
            setAlarm()
            return .refreshed(snapshot.entitlements.asOf)
        }
    }

    private func snapshot(
        of subject: SnapshotSubject
    ) async -> Result<VerifiedSnapshot, CallFault> {
        var headers: [Name: String] = [:]
        let least = leastSize.take(knowing: current, at: options.clock.now)
        if let least { headers["Ledger-Min-Sequence"] = String(least) }
        let query = "snapshot?environment=" + subject.environment.name
        let path = ServerConnection.path(query, of: subject.customer)
        switch await connection.call(.get, path, headers: headers) {
        case .failure(let fault):
            if fault.code == ProblemCode.behind.rawValue, let least { leastSize.miss(least) }
            return .failure(fault)
        case .success(let response):
            let text = String(decoding: response.body, as: UTF8.self)
            let result = await verified(UnverifiedSnapshot(text: text), for: subject)
            // Somebody between kept an older one: it has not seen what was recorded.
            if case .success(let snapshot) = result, let least,
                snapshot.entitlements.sequence < least
            {
                leastSize.miss(least)
                return .failure(.unreached)
            }
            return result
        }
    }

    /// Verifies by the keys at hand; where they do not know the one that signed, by those that the
    /// server publishes now, unless others are pinned.
    private func verified(
        _ snapshot: UnverifiedSnapshot,
        for subject: SnapshotSubject
    ) async -> Result<VerifiedSnapshot, CallFault> {
        var refusal = SnapshotRefusal.unknownKey
        if let keys {
            switch snapshot.verified(by: keys, for: subject) {
            case .success(let verified): return .success(verified)
            case .failure(let reason): refusal = reason
            }
        }
        guard refusal == .unknownKey, options.pinned == nil else {
            return .failure(Self.fault(refusal))
        }
        switch await connection.openCall("/.well-known/jwks.json") {
        case .failure(let fault): return .failure(fault)
        case .success(let response):
            // A set that cannot be read has no key that counts.
            guard let fetched = try? TrustedKeys(response.body) else {
                return .failure(Self.fault(.unknownKey))
            }
            let joined = fetched.joined(with: keys)
            keys = joined
            cache.keep(joined)
            return snapshot.verified(by: joined, for: subject).mapError(Self.fault)
        }
    }

    /// What an app tells its people of a snapshot that does not verify.
    private static func fault(_ refusal: SnapshotRefusal) -> CallFault {
        let code: ServiceError.Code =
            switch refusal {
            case .malformed, .header, .claims: .decodingError
            case .unknownKey: .keyNotFound
            case .signature: .invalidSignature
            case .subject: .verificationFailed
            }
        return CallFault(error: ServiceError(code), verdict: .later(nil))
    }

    /// Fetches the gate map that a snapshot speaks of, where another is kept; one that cannot be had
    /// leaves the kept one (row B6).
    private func fetchGates(vouchedBy snapshot: VerifiedSnapshot, _ asked: UInt64) async {
        // The tag is of what the customer sees in that environment.
        let path = "/v1/catalog/gates?environment=" + options.environment.name
        guard let tag = snapshot.entitlements.gateTag, kept?.tag.isSame(as: tag) != true,
            case .success(let response) = await connection.call(.get, path),
            asked == generation,
            let gates = KeptGates(response.body, vouchedBy: snapshot)
        else { return }
        kept = gates
        cache.keep(gates)
    }
}

/// What changes.
extension EntitlementStore {
    /// What the store verified and the server has not recorded yet (row 3.4).
    func set(provisional told: [ProvisionalAccess]) {
        let provisional = correction.map { by in told.map { $0.moved(by: by) } } ?? told
        let isNew = shared.withLock { shared in
            defer { shared.entitlements.provisional = provisional }
            return shared.entitlements.provisional != provisional
        }
        guard isNew else { return }
        changes.send(current)
        setAlarm()
    }

    /// Uses that the server's answer may not have seen.
    func set(uses: [PendingUse]) {
        let isNew = shared.withLock { shared in
            defer { shared.entitlements.uses = uses }
            return shared.entitlements.uses != uses
        }
        if isNew { changes.send(current) }
    }

    private func publish(_ entitlements: CustomerEntitlements?, gates: GateMap?) {
        let isNew = shared.withLock { shared in
            let before = (shared.entitlements, shared.gates)
            if var entitlements {
                entitlements.provisional = shared.entitlements.provisional
                entitlements.uses = shared.entitlements.uses
                shared.entitlements = entitlements
            }
            shared.gates = gates ?? shared.gates
            return before != (shared.entitlements, shared.gates)
        }
        if isNew { changes.send(current) }
    }
}
