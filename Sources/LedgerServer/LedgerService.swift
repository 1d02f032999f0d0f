import Encodings
import EntitlementLedger
import Entitlements
import EventLog
import HTTPTypes
import LedgerAPI
package import LedgerOperations
import Logging
import NIOPosix
import Presentation
package import Stores
import Synchronization

/// What the routes work with: the ledger, who verifies, who may, and how much.
final class LedgerService: Sendable, BlockingPool {
    let ledger: Ledger
    let trust: RenewedTrust
    let access: AccessControl
    let metrics: ServerMetrics
    let reports = ReportQueue()
    /// What stores say of what they sell; nil: nothing is kept anywhere.
    let products: KeptProducts?
    private let audits: AuditGate
    /// Audits the ledger, where a damaged file cannot take the server down.
    private let auditing: LedgerServer.Auditing
    /// Whether the ledger was opened to be read because its disk took nothing.
    let isReadOnlyByFault: Bool
    /// How long the first claims of one call may wait for the stores.
    let confirmationLimit: Duration
    /// Seconds after which a signed snapshot is old.
    let snapshotLifetime: Int64
    let accesses: AccessLog
    let faults: FaultNotes
    /// Keeps counts of refused signals; nil: there is nowhere to.
    let refusals: RefusalKeeper?
    let growth: LogGrowth
    /// Seals tickets for change notices; nil: the ledger's key is not at hand.
    let changeTickets: CustomerTicket.Sealer?
    /// Seals tickets for customers' own pages; nil: the ledger's key is not at hand.
    let pageTickets: CustomerTicket.Sealer?
    /// Where texts of the app's maker are, for customers' pages.
    let pageLinks: PaywallPage.Links
    /// A simulated store that stands beside the server; nil: none does.
    let simulator: (any SimulatedStoreDesk)?
    let jobs: JobBoard
    let alerts: AlertBoard
    /// The ledger's directory; nil: it stands in none.
    let directory: String?
    /// Where the ledger's master key comes from; nil: it is not known.
    let keyOptions: MasterKeyOptions?
    /// What the server goes by.
    let settings: Settings
    /// What stages of purchase flows may take, unless told (row 10.4).
    let stageThresholds: StageReport.Thresholds
    /// Who is told of what happens; nil: the ledger stands in no directory.
    let webhooks: Webhooks?
    /// Whether webhooks may be sent to networks of one's own.
    let sendsToPrivateNetworks: Bool
    /// Whose pages may ask from a browser.
    let origins: AllowedOrigins
    let connections: Connections
    let bodies: BodyBudget
    let logger: Logger
    /// Makes spans of requests and their parts; nil: nobody collects them.
    let tracer: SpanTracer?
    /// The cluster that this is a machine of; nil: of none.
    let cluster: ClusterNode?
    /// The largest size that was told, with its history; nil: none was.
    let toldPlace = Mutex<(size: UInt64, text: String)?>(nil)
    /// Tells what machines of the cluster pass on; nil: of none.
    let nodeTicket: NodeTicket?
    /// Looks at the ledger's files; nil: they are not known.
    let figures: (@Sendable () -> LedgerFigures)?
    let clock: @Sendable () -> Instant
    /// Ids for requests that bring none.
    let makeID: @Sendable () -> String
    /// Resolves the named time zones of a catalog (K10).
    let resolveTimeZones: @Sendable (JSONValue) -> JSONValue
    /// A time zone by its name; nil: there is none of that name.
    let timeZone: @Sendable (String) -> NamedZone?
    private let pool: NIOThreadPool
    /// Threads that compute.
    let computers: ComputingThreads
    private let ending = Atomic(false)
    /// Where it listens, as clients write it; nil: not yet.
    private let listening = Mutex<String?>(nil)

    init(_ options: LedgerServer.Options) {
        let metrics = ServerMetrics(
            operations: (RouteTable.routes + PageTable.routes(beside: options.simulator))
                .map(\.operation),
            clock: options.clock
        )
        ledger = options.ledger
        trust = RenewedTrust(options.trust)
        access = AccessControl(
            Authenticator(keys: options.keys, customers: options.trust.customers),
            RateLimiter(options.quotas, origin: .now),
            metrics,
            trust,
            options.proxies,
            isLogPublic: options.isLogPublic
        )
        self.metrics = metrics
        products = options.products
        logger = options.logger
        let passing = AccessPassing(options)
        nodeTicket = passing?.ticket
        accesses = AccessLog(options.ledger, options.logger, record: passing?.record)
        faults = FaultNotes(options.logger, every: options.faultInterval)
        refusals = RefusalKeeper(options.ledger, in: options.directory, faults)
        origins = options.origins
        jobs = JobBoard(clock: options.clock)
        alerts = AlertBoard(options.webhooks, options.logger)
        directory = options.directory
        keyOptions = options.keyOptions
        settings = options.settings
        stageThresholds = options.stageThresholds
        webhooks = options.webhooks
        sendsToPrivateNetworks = options.sendsToPrivateNetworks
        // Without the key there are no notices; what needs it says so by itself.
        changeTickets = try? options.ledger.prover.tickets(for: .changeNotices)
        // The same.
        pageTickets = try? options.ledger.prover.tickets(for: .pages)
        pageLinks = options.pageLinks
        simulator = options.simulator
        growth = LogGrowth { [ledger] in try ledger.questions.size() }
        connections = Connections(
            limit: options.connectionLimit,
            addressLimit: options.addressConnectionLimit,
            options.proxies
        )
        bodies = BodyBudget(limit: options.bodyByteLimit)
        figures = options.figures
        tracer = options.traces.map { SpanTracer(queue: metrics.spans, percent: $0.percent) }
        cluster = options.cluster
        clock = options.clock
        makeID = options.makeID
        resolveTimeZones = options.resolveTimeZones
        timeZone = options.timeZone
        // One of this process ends as all walks over the log do.
        auditing = options.audit ?? { [ledger] scope, _, _ in try ledger.auditor.audit(scope) }
        isReadOnlyByFault = options.isReadOnlyByFault
        confirmationLimit = options.confirmationLimit
        snapshotLifetime = Int64(options.snapshotLifetime)
        let pool = NIOThreadPool(numberOfThreads: options.threadCount)
        self.pool = pool
        computers = ComputingThreads(count: options.computingThreadCount)
        audits = AuditGate { try await pool.runIfActive($0) }
        pool.start()
    }

    /// Where the server listens, as clients write it; nil: not yet.
    var address: String? {
        get { listening.withLock(\.self) }
        set { listening.withLock { $0 = newValue } }
    }

    /// Whose signals are taken now.
    var stores: StoreAccess { trust.current.stores }

    /// Takes what was read again of whom the server trusts.
    func renew(_ renewed: ServerTrust) {
        trust.renew(renewed)
        access.renew(customers: renewed.customers)
    }

    /// Whether what goes on for long is to end: the server was told to.
    var isEnded: @Sendable () -> Bool { { [self] in ending.load(ordering: .relaxed) } }

    /// Tells what goes on for long to end.
    func end() {
        ending.store(true, ordering: .relaxed)
        ledger.endWalks()
    }

    /// Takes up the purchase flows that run by what the log says (row 2.2): whoever ended the server
    /// before ended none of them.
    ///
    /// - Throws: what the log throws.
    func takeUpFlows() throws {
        let first = clock().advanced(byMilliseconds: -PurchaseFlowLock.timeToLiveMilliseconds)
        try access.flows.goOn(from: ledger.questions.flows(recordedAfter: first)) {
            try ledger.questions.names(of: $0, in: $1)
        }
    }

    /// Ends the threads; nothing may be asked any more.
    func stop() async throws {
        try await reports.stop()
        try await pool.shutdownGracefully()
        try await computers.stop()
        // Whoever has the ledger goes on with it.
        ledger.allowWalks()
        refusals?.keep()
        // Whoever was answered last is noted last.
        try await accesses.stop()
    }

    /// See `BlockingPool`.
    func submit(_ work: @escaping @Sendable ((any Error)?) -> Void) {
        pool.begin(work)
    }

    /// Does what computes, and reads what mostly is in memory, away from the threads that serve connections.
    func computing<Result: Sendable>(
        _ body: @escaping @Sendable () throws -> Result
    ) async throws -> Result {
        try await computers.run(body)
    }

    /// Does what may wait for the disk, or takes long, away from the threads that serve connections.
    func blocking<Result: Sendable>(
        _ body: @escaping @Sendable () throws -> Result
    ) async throws -> Result {
        try await pool.runIfActive(body)
    }

    /// Does what appends to the ledger, as `blocking` does, in a span of its own.
    func appending<Result: Sendable>(
        _ body: @escaping @Sendable () throws -> Result
    ) async throws -> Result {
        try await withSpanOfPart("ledger append") { _ in try await blocking(body) }
    }

    /// Audits the ledger, one audit at a time, and counts what it came to.
    ///
    /// - Throws: `Problem.busy` while another one runs.
    func audit(_ scope: AuditScope, _ pace: LedgerServer.AuditPace) async throws -> AuditAnswer {
        do {
            let answer = try await audits.run { [auditing, isEnded] in
                try auditing(scope, pace, isEnded)
            }
            metrics.audits.count(scope, answer, at: clock())
            noteDamage(answer)
            return answer
        } catch let problem as Problem where problem.code == .busy {
            throw problem
        } catch is CancellationError {
            // The server stops: the audit is none that failed.
            throw CancellationError()
        } catch {
            metrics.audits.countFailure(scope)
            throw error
        }
    }

    /// Refuses to answer from less of the log than the caller has seen (read your writes), or from another
    /// history.
    func require(_ minimum: LogPlace?) async throws {
        guard let minimum else { return }
        for _ in 0..<Self.waitCount {
            if try ledger.questions.size() >= minimum.size { return try await requireSame(minimum) }
            try await Task.sleep(for: Self.waitInterval)
        }
        throw Problem(
            .behind,
            "the log is shorter than Ledger-Min-Sequence",
            retryAfter: 1
        )
    }

    private func requireSame(_ place: LogPlace) async throws {
        guard let root = place.root, try await rootPrefix(at: place.size) != root else { return }
        throw Problem(
            .otherHistory,
            "the log was restored to less since Ledger-Min-Sequence was told, and went on otherwise",
            path: HTTPField.Name.ledgerMinSequence.rawName
        )
    }

    /// Which history the log's first events are of; reads where it may wait for the disk.
    func rootPrefix(at size: UInt64) async throws -> RootPrefix? {
        try await blocking { [ledger] in try ledger.questions.rootPrefix(at: size) }
    }

    /// How often, and how long apart, a question waits for the log: two seconds in all.
    private static let waitCount = 40
    private static let waitInterval = Duration.milliseconds(50)
}

/// The stores that the server listens to.
package struct StoreAccess: Sendable {
    /// Verifies what Apple signs; nil: not configured.
    package var appStore: AppStoreVerifier?
    /// Whose purchases of Google Play are taken; nil: nobody's.
    package var playStore: PlayConfiguration?
    /// Knows Google Play's pushes; nil: only a key with `ingest` vouches for one.
    package var playPush: PlayPushVerifier?
    /// The stores that may be asked.
    package var clients: StoreClients
    /// Knows RevenueCat's webhooks; nil: only a key with `ingest` vouches for one.
    package var revenueCat: RevenueCatAuthentication?

    /// Names the stores.
    package init(
        appStore: AppStoreVerifier? = nil,
        playStore: PlayConfiguration? = nil,
        playPush: PlayPushVerifier? = nil,
        clients: StoreClients = StoreClients(),
        revenueCat: RevenueCatAuthentication? = nil
    ) {
        self.appStore = appStore
        self.playStore = playStore
        self.playPush = playPush
        self.clients = clients
        self.revenueCat = revenueCat
    }
}
