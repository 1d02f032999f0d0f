package import EntitlementLedger
import Entitlements
package import LedgerOperations
import Logging
import Presentation
package import Stores

/// A server's options, made of what is set, each checked.
package struct ServerConfiguration: Sendable {
    private let settings: Settings
    private let path: String
    private let logger: Logger
    /// A variable of the environment that others set, too.
    private let variable: @Sendable (_ name: String) -> String?

    /// Ports that there are; 0 picks one.
    package static let ports = 0...65_535
    /// Levels of the log that there are.
    package static let logLevels = Logger.Level.allCases.map(\.rawValue)
    private static let bodyBytes = LedgerServer.Options.leastBodyByteLimit...1 << 40
    static let mostConnections = 1_000_000
    private static let connections = 1...mostConnections
    /// An hour, to as long as a key signs: keys are handed out for as long again.
    private static let snapshotSeconds = 3600...Int(SnapshotKey.period / 1000)

    /// Takes what is set; `log` takes one line without its end; `variable` tells what others set for
    /// every program.
    ///
    /// - Throws: `OperationFault` for a level of the log that there is not.
    package init(
        _ settings: Settings,
        ofLedgerAt path: String,
        variable: @escaping @Sendable (_ name: String) -> String? = { _ in nil },
        log: @escaping @Sendable (String) -> Void
    ) throws {
        self.settings = settings
        self.variable = variable
        self.path = path
        let name = settings[.logLevel] ?? "notice"
        guard let level = Logger.Level(rawValue: name) else {
            throw OperationFault(.configuration, "no such log level", place: name)
        }
        logger = Logger(label: "entitle") { label in
            JSONLogHandler(label: label, level: level, clock: SystemClock.now, write: log)
        }
    }

    /// What the ledger is served with.
    ///
    /// - Throws: `OperationFault` for the first setting that is not in order.
    package func options(_ ledger: Ledger) async throws -> LedgerServer.Options {
        var options = LedgerServer.Options(
            ledger: ledger,
            keys: try keys(),
            logger: logger,
            clock: SystemClock.now,
            makeID: RequestIDs.next,
            resolveTimeZones: { TimeZones.resolved($0) }
        )
        options.timeZone = { TimeZones.zone(named: $0) }
        options.directory = path
        options.settings = settings
        options.products = KeptProducts(ofLedgerAt: path)
        options.host = try host(options.host)
        options.port = try settings.number(.port, in: Self.ports) ?? options.port
        options.connectionLimit = try connectionLimit(options.connectionLimit)
        options.addressConnectionLimit =
            try settings.number(.connectionsPerAddress, in: Self.connections)
            ?? options.addressConnectionLimit
        options.bodyByteLimit =
            try settings.number(.bodyBytes, in: Self.bodyBytes) ?? options.bodyByteLimit
        options.drift = try drift(options.drift)
        options.storeWatch = try settings.interval(.storeSeconds, standard: options.storeWatch)
        options.silence = try settings.interval(.silenceSeconds, standard: options.silence)
        options.backfill = try settings.interval(.backfillSeconds, standard: options.backfill)
        options.trustInterval =
            try settings.interval(.trustSeconds, standard: options.trustInterval)
        options.reportWatch =
            try settings.interval(.reportSeconds, standard: options.reportWatch)
        options.stageThresholds = try settings.stageThresholds()
        options.audits.quick =
            try settings.interval(.auditSeconds, standard: options.audits.quick)
        options.audits.everything =
            try settings.interval(.auditFullSeconds, standard: options.audits.everything)
        if !ledger.isReadOnly {
            options.publication = try publication()
            options.archive = try archive()
            options.productLoads = try productLoads()
        }
        options.snapshotLifetime =
            try settings.number(.snapshotSeconds, in: Self.snapshotSeconds)
            ?? options.snapshotLifetime
        options.sendsToPrivateNetworks = try settings.flag(.privateWebhooks) ?? false
        options.isLogPublic = try settings.flag(.publicLog) ?? false
        options.pageLinks.terms = try page(.termsPage)
        options.pageLinks.privacy = try page(.privacyPage)
        options.pageLinks.support = try page(.supportPage)
        let trust = TrustReader(settings, ofLedgerAt: path, logger)
        options.trust = try await trust.read()
        options.readTrust = { () async throws(InputFault) in
            do {
                return try await trust.read()
            } catch {
                let fault = OperationFault(telling: error, ofLedgerAt: path)
                let place = fault.place.map { " (\($0))" } ?? ""
                throw InputFault(.malformed, "", fault.message + place)
            }
        }
        options.traces = try TraceConfiguration.collector(settings, variable: variable)
        options.proxies = try proxies()
        options.origins = try origins()
        options.quotas = try quotas(options.quotas)
        return options
    }

    /// Where to listen; a socket's path is one that a socket can have.
    private func host(_ standard: String) throws -> String {
        guard let host = settings[.host] else { return standard }
        let prefix = LedgerServer.Options.socketPrefix
        guard
            !host.hasPrefix(prefix)
                || LedgerSocket.pathByteCounts.contains(host.utf8.count - prefix.utf8.count)
        else {
            throw OperationFault(
                .configuration,
                "the path of a socket has \(LedgerSocket.pathByteCounts) bytes",
                place: host
            )
        }
        return host
    }

    /// An address that a customer's page leads to; nil: none is set.
    private func page(_ setting: Setting) throws -> String? {
        guard let address = settings[setting] else { return nil }
        let schemes = ["https://", "http://"] + (setting == .supportPage ? ["mailto:"] : [])
        guard schemes.contains(where: address.hasPrefix),
            address.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
        else {
            throw OperationFault(
                .configuration,
                "\(setting.rawValue) is such as https://example.com/terms",
                place: address
            )
        }
        return address
    }

    /// Connections that may be open at once, by the settings and by the files that may be open: one
    /// that is accepted where no file is left would stop all others.
    private func connectionLimit(_ standard: Int) throws -> Int {
        let wanted = try settings.number(.connections, in: Self.connections) ?? standard
        guard let files = OpenFiles.limit, files - OpenFiles.reserve < wanted else { return wanted }
        let possible = max(1, files - OpenFiles.reserve)
        logger.warning(
            "fewer connections than configured: raise the limit of open files (ulimit -n)",
            metadata: ["openFiles": "\(files)", "connections": "\(possible)"]
        )
        return possible
    }

    /// How often customers are folded again, and how many; nil: never.
    private func drift(
        _ standard: LedgerServer.DriftSchedule?
    ) throws -> LedgerServer.DriftSchedule? {
        guard var schedule = standard,
            let interval = try settings.interval(.driftSeconds, standard: schedule.interval)
        else { return nil }
        schedule.interval = interval
        schedule.sample =
            try settings.number(.driftSample, in: 1...1_000_000) ?? schedule.sample
        return schedule
    }

    /// How often products are loaded; nil: never.
    private func productLoads() throws -> LedgerServer.ProductSchedule? {
        let standard = LedgerServer.ProductSchedule.standard
        guard let interval = try settings.interval(.productSeconds, standard: standard) else {
            return nil
        }
        var schedule = LedgerServer.ProductSchedule(
            ProductLoad(ProductFiles(ofLedgerAt: path), clock: SystemClock.now)
        )
        schedule.interval = interval
        return schedule
    }

    /// How often the log is signed, and where checkpoints go; nil: never.
    private func publication() throws -> LedgerServer.PublicationSchedule? {
        var schedule = LedgerServer.PublicationSchedule()
        guard
            let interval = try settings.interval(.checkpointSeconds, standard: schedule.interval)
        else { return nil }
        schedule.interval = interval
        if let place = settings[.publish] {
            schedule.publish = { try Publication.put($0, at: place, of: $1) }
        }
        return schedule
    }

    /// How often the log is archived, and where; nil: nowhere.
    private func archive() throws -> LedgerServer.ArchiveSchedule? {
        let standard = LedgerServer.ArchiveSchedule.standardInterval
        guard let place = settings[.archive],
            let interval = try settings.interval(.archiveSeconds, standard: standard)
        else { return nil }
        let (store, manifest) = try Publication.archive(at: place, ofLedgerAt: path)
        return LedgerServer.ArchiveSchedule(interval: interval, to: store, manifest: manifest)
    }

    private func keys() throws -> KeyRing {
        do {
            return try KeyRing(ledgerPath: path, at: SystemClock.now()) { [logger] fault in
                logger.error("keys.json is not used", metadata: ["fault": "\(fault.detail)"])
            }
        } catch {
            throw misconfigured("keys.json: \(error.detail)", path)
        }
    }

    private func proxies() throws -> TrustedProxies {
        let parts = (settings[.trustedProxies] ?? "").split(separator: ",")
        return TrustedProxies(
            try parts.map { part in
                guard let network = IPNetwork(part.filter { $0 != " " }) else {
                    throw misconfigured(
                        "trustedProxies are networks such as 10.0.0.0/8,fd00::/8",
                        String(part)
                    )
                }
                return network
            }
        )
    }

    private func origins() throws -> AllowedOrigins {
        let text = settings[.origins] ?? ""
        let texts = text.split(separator: ",").map { String($0.filter { $0 != " " }) }
        guard let origins = AllowedOrigins(texts) else {
            throw misconfigured(
                "origins are such as https://app.example.com,http://localhost:3000",
                text
            )
        }
        return origins
    }

    /// `keys=60000/60,customers=600/60`: requests and seconds; `0` lifts a limit.
    private func quotas(
        _ standard: [RateLimitPolicy: RateLimitQuota]
    ) throws -> [RateLimitPolicy: RateLimitQuota] {
        var quotas = standard
        for part in (settings[.limits] ?? "").split(separator: ",") {
            let sides = part.split(separator: "=", maxSplits: 1)
            guard sides.count == 2, let policy = RateLimitPolicy(rawValue: String(sides[0])) else {
                let names = RateLimitPolicy.allCases.map(\.rawValue).joined(separator: ", ")
                throw misconfigured("a limit is NAME=REQUESTS/SECONDS, of \(names)", String(part))
            }
            if sides[1] == "0" {
                quotas[policy] = nil
                continue
            }
            let numbers = sides[1].split(separator: "/").compactMap { Int64($0) }
            guard numbers.count == 2,
                let quota = RateLimitQuota(requests: numbers[0], windowSeconds: numbers[1])
            else { throw misconfigured("a limit is NAME=REQUESTS/SECONDS", String(part)) }
            quotas[policy] = quota
        }
        return quotas
    }

    private func misconfigured(_ message: String, _ place: String) -> OperationFault {
        OperationFault(.configuration, message, place: place)
    }
}

extension StoresFile {
    /// The verifier of the App Store, which asks over the network whether a certificate was revoked
    /// where that is configured; nil: it is not configured.
    ///
    /// - Throws: `OperationFault` for a root that is no certificate.
    package static func appStoreVerifier(
        _ configuration: StoresConfiguration
    ) throws -> AppStoreVerifier? {
        try appStoreVerifier(
            configuration,
            revocation: AppStoreRevocationCheck(
                clock: SystemClock.now,
                transport: RevocationTransport.ask
            )
        )
    }
}
