import Encodings
import EntitlementLedger
import Entitlements
import Foundation
import LMDBStorage
import LedgerOperations
import LedgerServer
import Logging
import Stores

/// What a server is run with: flags, then settings, then defaults, each checked.
struct ServeConfiguration {
    private let command: Serve
    private let settings: ServeSettings

    /// Ports that there are; 0 picks one.
    private static let ports = 0...65_535
    private static let bodyBytes = LedgerServer.Options.leastBodyByteLimit...1 << 40

    init(_ command: Serve, _ settings: ServeSettings) {
        self.command = command
        self.settings = settings
    }

    func options(_ ledger: Ledger, _ path: String) async throws -> LedgerServer.Options {
        let logger = try logger()
        var options = LedgerServer.Options(
            ledger: ledger,
            keys: try keys(path, logger),
            logger: logger,
            clock: SystemClock.now,
            makeID: RequestIDs.next,
            resolveTimeZones: { TimeZones.resolved($0) }
        )
        options.host = command.host ?? settings.host ?? options.host
        if let port = command.port, !Self.ports.contains(port) {
            throw CommandFailure(.usage, "usage", "expected \(Self.ports)", place: "--port")
        }
        options.port = try command.port ?? number(settings.port, "port", Self.ports) ?? options.port
        options.connectionLimit = try connectionLimit(options.connectionLimit, logger)
        options.addressConnectionLimit =
            try number(settings.connectionsPerAddress, "connectionsPerAddress", 1...1_000_000)
            ?? options.addressConnectionLimit
        options.bodyByteLimit =
            try number(settings.bodyBytes, "bodyBytes", Self.bodyBytes) ?? options.bodyByteLimit
        options.drift = try drift(options.drift)
        options.audits.quick = try interval(
            settings.auditSeconds,
            "auditSeconds",
            options.audits.quick
        )
        options.audits.everything = try interval(
            settings.auditFullSeconds,
            "auditFullSeconds",
            options.audits.everything
        )
        if !ledger.isReadOnly { options.publication = try publication(path) }
        options.isLogPublic = try isLogPublic()
        options.trust = try await trust(path, logger)
        options.readTrust = { () async throws(InputFault) in
            do {
                return try await trust(path, logger)
            } catch {
                let failure = error as? CommandFailure ?? CommandFailure(error)
                let place = failure.place.map { " (\($0))" } ?? ""
                throw InputFault(.malformed, "", failure.message + place)
            }
        }
        options.proxies = try proxies()
        try setQuotas(&options)
        return options
    }

    private func number(_ text: String?, _ name: String, _ range: ClosedRange<Int>) throws -> Int? {
        guard let text else { return nil }
        guard let number = Int(text), range.contains(number) else {
            throw misconfigured("\(name) is not a number in \(range)", text)
        }
        return number
    }

    /// Connections that may be open at once, by the settings and by the files that may be open: one
    /// that is accepted where no file is left would stop all others.
    private func connectionLimit(_ standard: Int, _ logger: Logger) throws -> Int {
        let wanted = try number(settings.connections, "connections", 1...1_000_000) ?? standard
        guard let files = OpenFiles.limit, files - OpenFiles.reserve < wanted else { return wanted }
        let possible = max(1, files - OpenFiles.reserve)
        logger.warning(
            "fewer connections than configured: raise the limit of open files (ulimit -n)",
            metadata: ["openFiles": "\(files)", "connections": "\(possible)"]
        )
        return possible
    }

    /// Seconds between two runs of a job; 0: never.
    private func interval(
        _ text: String?,
        _ name: String,
        _ standard: Duration?
    ) throws -> Duration? {
        guard let seconds = try number(text, name, 0...31_536_000) else { return standard }
        return seconds > 0 ? .seconds(seconds) : nil
    }

    /// How often customers are folded again, and how many; 0 seconds: never.
    private func drift(
        _ standard: LedgerServer.DriftSchedule?
    ) throws -> LedgerServer.DriftSchedule? {
        var schedule = standard
        if let seconds = try number(settings.driftSeconds, "driftSeconds", 0...31_536_000) {
            guard seconds > 0 else { return nil }
            schedule?.interval = .seconds(seconds)
        }
        if let sample = try number(settings.driftSample, "driftSample", 1...1_000_000) {
            schedule?.sample = sample
        }
        return schedule
    }

    /// How often the log is signed, and where checkpoints and archive go; 0 seconds: never.
    private func publication(_ path: String) throws -> LedgerServer.PublicationSchedule? {
        var schedule = LedgerServer.PublicationSchedule()
        let range = 0...31_536_000
        if let seconds = try number(settings.checkpointSeconds, "checkpointSeconds", range) {
            guard seconds > 0 else { return nil }
            schedule.interval = .seconds(seconds)
        }
        if let place = settings.archive {
            schedule.archive = (
                try ArchiveDirectory(at: place, forWriting: true),
                try LedgerDirectory.manifestBytes(at: path)
            )
        }
        if let place = settings.publish {
            schedule.publish = { try Publication.put($0, at: place, of: $1) }
        }
        return schedule
    }

    private func isLogPublic() throws -> Bool {
        switch settings.publicLog ?? "false" {
        case "true": true
        case "false": false
        case let other: throw misconfigured("publicLog is true or false", other)
        }
    }

    private func misconfigured(_ message: String, _ place: String) -> CommandFailure {
        CommandFailure(.misconfigured, "configuration", message, place: place)
    }

    private func logger() throws -> Logger {
        let name = command.logLevel ?? settings.logLevel ?? "notice"
        guard let level = Logger.Level(rawValue: name) else {
            throw misconfigured("no such log level", name)
        }
        return Logger(label: "entitle") { label in
            JSONLogHandler(
                label: label,
                level: level,
                clock: SystemClock.now,
                write: { Terminal.note($0) }
            )
        }
    }

    private func keys(_ path: String, _ logger: Logger) throws -> KeyRing {
        do {
            return try KeyRing(ledgerPath: path, at: SystemClock.now()) { fault in
                logger.error("keys.json is not used", metadata: ["fault": "\(fault.detail)"])
            }
        } catch {
            throw misconfigured("keys.json: \(error.detail)", path)
        }
    }

    private func trust(_ path: String, _ logger: Logger) async throws -> ServerTrust {
        ServerTrust(
            stores: try stores(path),
            customers: try await customers(path, logger),
            tls: try tls(path)
        )
    }

    private func stores(_ path: String) throws -> StoreAccess {
        guard let configuration = try command.stores.configuration(at: path) else {
            return StoreAccess()
        }
        return StoreAccess(
            appStore: try StoresOptions.verifier(configuration),
            revenueCat: RevenueCatAuthentication(
                authorization: configuration.revenueCat?.authorization,
                hmacSecret: configuration.revenueCat?.hmacSecret
            )
        )
    }

    private func customers(
        _ path: String,
        _ logger: Logger
    ) async throws -> CustomerTokenVerifier? {
        guard let place = command.customerKeys ?? settings.customerKeysFile else { return nil }
        let text = String(decoding: try ConfigurationFile.read(place, ledger: path), as: UTF8.self)
        let keys: CustomerTokenKeys
        do {
            keys = try await CustomerTokenKeys(text)
        } catch {
            throw misconfigured("the keys of customer tokens: \(error.rawValue)", place)
        }
        // Whatever else the issuer signs with these keys, for another service say, lets in too.
        for (name, value) in [
            ("customerIssuer", settings.customerIssuer),
            ("customerAudience", settings.customerAudience),
        ] where value == nil {
            logger.warning("customers' tokens are not held against \(name): set it")
        }
        return CustomerTokenVerifier(
            keys: keys,
            issuer: settings.customerIssuer,
            audience: settings.customerAudience
        )
    }

    private func tls(_ path: String) throws -> LedgerServer.TLS? {
        let certificate = command.tlsCertificate ?? settings.tlsCertificateFile
        let key = command.tlsKey ?? settings.tlsKeyFile
        guard let certificate, let key else {
            guard certificate == nil, key == nil else {
                throw misconfigured("TLS needs a certificate and its key", certificate ?? key ?? "")
            }
            return nil
        }
        do {
            return try LedgerServer.TLS(
                certificate: ConfigurationFile.read(certificate, ledger: path),
                key: ConfigurationFile.read(key, ledger: path)
            )
        } catch let fault as OperationFault {
            throw fault
        } catch {
            throw misconfigured("not a certificate chain and its key in PEM", certificate)
        }
    }

    private func proxies() throws -> TrustedProxies {
        let parts = (settings.trustedProxies ?? "").split(separator: ",")
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

    /// `keys=60000/60,customers=600/60`: requests and seconds; `0` lifts a limit.
    private func setQuotas(_ options: inout LedgerServer.Options) throws {
        guard let text = settings.limits else { return }
        for part in text.split(separator: ",") {
            let sides = part.split(separator: "=", maxSplits: 1)
            guard sides.count == 2, let policy = RateLimitPolicy(rawValue: String(sides[0])) else {
                let names = RateLimitPolicy.allCases.map(\.rawValue).joined(separator: ", ")
                throw misconfigured("a limit is NAME=REQUESTS/SECONDS, of \(names)", String(part))
            }
            if sides[1] == "0" {
                options.quotas[policy] = nil
                continue
            }
            let numbers = sides[1].split(separator: "/").compactMap { Int64($0) }
            guard numbers.count == 2,
                let quota = RateLimitQuota(requests: numbers[0], windowSeconds: numbers[1])
            else { throw misconfigured("a limit is NAME=REQUESTS/SECONDS", String(part)) }
            options.quotas[policy] = quota
        }
    }
}
