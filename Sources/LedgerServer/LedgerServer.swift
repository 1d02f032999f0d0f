package import Encodings
package import EntitlementLedger
package import Entitlements
import Hummingbird
import HummingbirdCore
package import LedgerAPI
package import LedgerOperations
package import Logging
import NIOCore
import NIOPosix
import NIOSSL
package import Presentation
import ServiceLifecycle
import Tracing
import UnixSignals

/// The HTTP interface of a ledger (Interfaces, "HTTP").
package enum LedgerServer {
    /// What a server is run with.
    package struct Options: Sendable {
        /// The ledger that is served.
        package var ledger: Ledger
        /// The API keys that count.
        package var keys: KeyRing
        /// Whose signals and tokens are taken, and the certificate.
        package var trust = ServerTrust()
        /// Reads the trust again at SIGHUP; nil: the signal changes nothing.
        package var readTrust: TrustReading?
        /// The proxies that say for whom they ask.
        package var proxies = TrustedProxies.none
        /// The origins whose pages may ask from a browser.
        package var origins = AllowedOrigins.none
        /// The service manager that is told how the server is; nil: none.
        package var manager: ServiceManager?
        /// How many requests each client may make.
        package var quotas = Options.standardQuotas
        /// Where to listen: an address or name, or `unix:` and the path of a socket.
        package var host = "127.0.0.1"
        /// 0 picks one.
        package var port = 8080
        /// A socket that is bound already; nil: `host` and `port` say where to listen.
        package var passedSocket: PassedSocket?
        /// A socket of this machine, in a folder of the ledger's owner alone, on which commands ask; nil: none.
        package var socketPath: String?
        /// Connections that are open at once.
        package var connectionLimit = Options.standardConnectionLimit
        /// Connections that are open at once from one address, trusted proxies apart.
        package var addressConnectionLimit = 1000
        /// Bytes that the bodies of all requests may hold together.
        package var bodyByteLimit = 64 << 20
        /// How live views are held against the log; nil: not at all.
        package var drift: DriftSchedule? = .standard
        /// How often purchases are looked for of which a store has not told; nil: never.
        package var storeWatch: Duration? = StoreWatch.standardInterval
        /// How long a store that renews purchases may say nothing before it is an alert; nil: as long as it likes.
        package var silence: Duration? = StoreWatch.standardSilence
        /// How often the stores are asked about everybody; nil: never.
        package var backfill: Duration? = BackfillWatch.standardInterval
        /// How often whom the server trusts is read again; nil: only at SIGHUP.
        package var trustInterval: Duration? = TrustRefresh.standardInterval
        /// How often the figures of reports are looked at; nil: never.
        package var reportWatch: Duration? = ReportWatch.standardInterval
        /// What stages of purchase flows may take, where a question for a report does not say.
        package var stageThresholds = StageReport.Thresholds()
        /// How checkpoints are signed and published; nil: not at all.
        package var publication: PublicationSchedule?
        /// How the log is archived; nil: not at all.
        package var archive: ArchiveSchedule?
        /// What stores say of what they sell, as it is kept; nil: nowhere.
        package var products: KeptProducts?
        /// How they are loaded; nil: not at all.
        package var productLoads: ProductSchedule?
        /// The ledger's directory; nil: it stands in none.
        package var directory: String?
        /// Where its master key comes from, to be looked at; nil: it is not known.
        package var keyOptions: MasterKeyOptions?
        /// What is set, as pages show it.
        package var settings = Settings()
        /// Who is told of what happens; nil: the ledger stands in no directory.
        package var webhooks: Webhooks?
        /// Whether webhooks that are added over HTTP may be sent to networks of one's own.
        package var sendsToPrivateNetworks = false
        /// How long the first claims of one call may wait for the stores.
        package var confirmationLimit = StoreSync.confirmationLimit
        /// Seconds after which a signed snapshot is old.
        package var snapshotLifetime = 2_592_000
        /// Whether checkpoints and hash tiles are for everybody.
        package var isLogPublic = false
        /// Who collects spans of requests and their parts; nil: nobody does.
        package var traces: TraceCollector?
        /// The cluster that this is a machine of; nil: of none.
        package var cluster: ClusterNode?
        /// Looks at the ledger's files for those who watch; nil: they are not known.
        package var figures: (@Sendable () -> LedgerFigures)?
        /// Where texts of the app's maker are, for customers' pages.
        package var pageLinks = PaywallPage.Links()
        /// A simulated store that stands beside the server, for development; nil: none does.
        package var simulator: (any SimulatedStoreDesk)?
        /// Audits the ledger in a process of its own; nil: in this one.
        package var audit: Auditing?
        /// How the ledger is audited behind whoever asks.
        package var audits = AuditSchedule.standard
        /// Whether the ledger was opened to be read because its disk took nothing.
        package var isReadOnlyByFault = false
        /// How long the answers under way may take once the server is told to stop.
        package var drainSeconds: Int64 = 25
        /// Threads on which what is recorded waits for the disk: so many are recorded in one commit.
        var threadCount = 32
        /// Threads on which questions are answered and signals read.
        ///
        /// More than a few for each processor wait for one another's locks: 32 on two processors answered a
        /// fourth as many of the customers whom nobody asked about before.
        var computingThreadCount = max(4, 2 * System.coreCount)
        /// How long faults of a kind are counted before the next is told of.
        var faultInterval = Duration.seconds(60)
        /// How long the parts of an exchange may take.
        var deadlines = RequestDeadline.Limits()
        /// Where log lines go; they name nobody.
        package var logger: Logger
        /// The time.
        package var clock: @Sendable () -> Instant
        /// Ids for requests that bring none.
        package var makeID: @Sendable () -> String
        /// Resolves the named time zones of a catalog (K10).
        package var resolveTimeZones: @Sendable (JSONValue) -> JSONValue
        /// A time zone by its name, for what is told to people; nil: there is none of that name.
        package var timeZone: @Sendable (String) -> NamedZone? = {
            $0 == NamedZone.utc.name ? .utc : nil
        }

        /// Connections that are open at once unless it is configured.
        package static let standardConnectionLimit = 10_000
        /// Bytes of the largest body that a call takes: room for one of them at least.
        package static let leastBodyByteLimit =
            RouteTable.routes.compactMap(\.body?.byteLimit).max() ?? 0

        /// Makes options with what has no default.
        package init(
            ledger: Ledger,
            keys: KeyRing,
            logger: Logger,
            clock: @escaping @Sendable () -> Instant,
            makeID: @escaping @Sendable () -> String,
            resolveTimeZones: @escaping @Sendable (JSONValue) -> JSONValue
        ) {
            self.ledger = ledger
            self.keys = keys
            self.logger = logger
            self.clock = clock
            self.makeID = makeID
            self.resolveTimeZones = resolveTimeZones
        }

        /// The address as clients write it: a URL, or `unix:` and the path of a socket.
        package func address(listeningAt port: Int) -> String {
            guard !host.hasPrefix(Self.socketPrefix) else { return host }
            let host = host.contains(":") ? "[\(host)]" : host
            return "\(trust.tls == nil ? "http" : "https")://\(host):\(port)"
        }

        /// The same of a place that is listened at; nil: it is not known.
        func address(at place: SocketAddress?) -> String {
            guard passedSocket != nil, let place else {
                return address(listeningAt: place?.port ?? port)
            }
            var passed = self
            passed.host = place.ipAddress ?? Self.socketPrefix + (place.pathname ?? "")
            return passed.address(listeningAt: place.port ?? port)
        }

        var address: BindAddress {
            hostSocket.map { .unixDomainSocket(path: $0) } ?? .hostname(host, port: port)
        }

        /// The path of the socket that the host names; nil: it names none.
        var hostSocket: String? {
            guard host.hasPrefix(Self.socketPrefix) else { return nil }
            return String(host.dropFirst(Self.socketPrefix.count))
        }

        /// What stands before the path of a socket.
        static let socketPrefix = "unix:"

        /// What holds unless it is configured.
        package static let standardQuotas = Dictionary(
            uniqueKeysWithValues: RateLimitPolicy.allCases.map { ($0, RateLimitQuota.standard($0)) }
        )
    }

    /// Audits the ledger that is served, until that is ended: then it throws `CancellationError`.
    package typealias Auditing =
        @Sendable (AuditScope, AuditPace, _ isEnded: () -> Bool) throws -> AuditAnswer

    /// Reads whom the server trusts.
    ///
    /// - Throws: `InputFault`, whose sentence goes into the log: it holds no secret.
    package typealias TrustReading =
        @Sendable () async throws(InputFault) -> ServerTrust

    /// A certificate chain and its private key.
    package struct TLS: Sendable {
        let configuration: TLSConfiguration

        /// Reads both from PEM, and holds the one against the other.
        ///
        /// - Throws: what NIOSSL throws.
        package init(certificate: [UInt8], key: [UInt8]) throws {
            var configuration = TLSConfiguration.makeServerConfiguration(
                certificateChain: try NIOSSLCertificate.fromPEMBytes(certificate)
                    .map { .certificate($0) },
                privateKey: .privateKey(try NIOSSLPrivateKey(bytes: key, format: .pem))
            )
            // Older versions are broken (RFC 8996).
            configuration.minimumTLSVersion = .tlsv12
            self.configuration = configuration
            // A key of another certificate is found here rather than when the server starts.
            _ = try NIOSSLContext(configuration: configuration)
        }
    }

    /// A server that listens.
    package struct Listening: Sendable {
        /// Where, as clients write it.
        package let address: String
        /// Makes a link that signs in to the console, once.
        package let makeConsoleLink: @Sendable () -> String
    }

    /// Whether a server could not begin because of its address.
    package static func isAddressFault(_ error: any Error) -> Bool {
        error is IOError || error is SocketAddressError || error is SocketAddressError.UnknownHost
            || error is UnixDomainSocketPathWrongType || error is AddressTaken
    }

    /// Bytes of a request's head.
    static let headByteLimit = 16 << 10
    /// Header fields of a request.
    static let headerFieldLimit = 100

    /// Serves until it is told to stop (SIGTERM, SIGINT), then lets the answers under way go out.
    ///
    /// `onListening`: told where, once.
    package static func run(
        _ options: Options,
        onListening: @escaping @Sendable (Listening) -> Void
    ) async throws {
        try await refuseTaken(options)
        let service = LedgerService(options)
        try await takeUp(options, service)
        let all = try services(options, service, onListening: onListening)
        var configuration = ServiceGroupConfiguration(
            services: all.map { .init(service: $0) },
            gracefulShutdownSignals: [.sigterm, .sigint],
            logger: options.logger
        )
        configuration.maximumGracefulShutdownDuration = .seconds(options.drainSeconds)
        let group = ServiceGroup(configuration: configuration)
        // What the server does by itself is traced as requests are.
        var context = ServiceContext.topLevel
        context.spanTracer = service.tracer
        let outcome = await ServiceContext.withValue(context) {
            await Result { try await group.run() }
        }
        try await service.stop()
        try outcome.get()
    }

    /// What serves, and what goes on beside it.
    ///
    /// They are told to end from the last to the first, each once the one behind it has ended: whoever asks is
    /// answered first, and what a job still does cuts no answer off.
    static func services(
        _ options: Options,
        _ service: LedgerService,
        onListening: @escaping @Sendable (Listening) -> Void
    ) throws -> [any Service] {
        let (listening, opened) = AsyncStream.makeStream(of: Void.self)
        let isListening: @Sendable (SocketAddress?) -> Void = { [manager = options.manager] place in
            let address = options.address(at: place)
            service.address = address
            opened.yield()
            onListening(
                Listening(address: address) {
                    let sessions = service.access.sessions
                    return address + sessions.makeLink(as: .console, at: service.clock()).path
                }
            )
            if let manager { Task { await manager.tell(.isReady) } }
        }
        var services: [any Service] = [service.growth, MemoryRelease(service: service)]
        services += background(options, service)
        if let passed = options.passedSocket {
            services.append(PassedSocketServer(passed, options, service, isListening))
        } else {
            services.append(try application(options, service, onListening: isListening))
        }
        if let path = options.socketPath {
            services.append(
                OwnersServer(
                    application: try self.application(
                        options,
                        service,
                        at: .unixDomainSocket(path: path)
                    ),
                    listening: listening
                )
            )
        }
        services.append(EndNote(service: service))
        if let manager = options.manager {
            services.append(ServiceManagerWatch(service: service, manager: manager))
        }
        return services
    }

    /// Takes up what an earlier server left under way.
    private static func takeUp(_ options: Options, _ service: LedgerService) async throws {
        // Who leads next takes up what another machine had under way.
        options.cluster?.whenLeading { [weak service] in service?.takeUpFlowsOfOthers() }
        do {
            try await service.blocking { try service.takeUpFlows() }
        } catch {
            // A damaged record keeps nobody from being served: a flow may begin beside another.
            service.faults.note(error, of: "flows")
        }
        if let refusals = service.refusals {
            try await service.blocking { refusals.takeUp() }
        }
        if let interval = options.storeWatch {
            await StoreWatch(service: service, interval: interval).recall()
        }
        // What stood before the start stands until a look says otherwise; one that cannot be read is told of by
        // that look.
        _ = try? await service.blocking { try service.alerts.all() }
    }

    /// What runs beside the answers: jobs, and what is sent to others.
    private static func background(
        _ options: Options,
        _ service: LedgerService
    ) -> [any Service] {
        var services: [any Service] = []
        if let collector = options.traces {
            services.append(
                SpanSender(
                    queue: service.metrics.spans,
                    collector: collector,
                    logger: options.logger
                )
            )
        }
        if let read = options.readTrust {
            services.append(TrustRenewal(service: service, read: read))
        }
        if let keeper = service.refusals {
            services.append(RefusalWatch(service: service, keeper: keeper))
        }
        services.append(scheduler(options, service))
        if let webhooks = options.webhooks, !options.ledger.isReadOnly {
            services.append(WebhookSender(service: service, webhooks: webhooks))
        }
        return services
    }
}

/// The server on the socket of the ledger's directory: it begins once the one on the network listens, so that
/// one whose address is taken ends with that fault and no other.
private struct OwnersServer<Server: ApplicationProtocol>: Service {
    let application: Server
    let listening: AsyncStream<Void>

    func run() async throws {
        for await _ in listening.cancelOnGracefulShutdown() { return try await application.run() }
    }
}

/// Tells what goes on for long that the server is to end.
private struct EndNote: Service {
    let service: LedgerService

    func run() async throws {
        // Whoever is cancelled ends, too.
        try? await gracefulShutdown()
        service.end()
    }
}

extension Result where Failure == any Error {
    /// What an asynchronous body came to.
    fileprivate init(_ body: () async throws -> Success) async {
        do { self = .success(try await body()) } catch { self = .failure(error) }
    }
}
