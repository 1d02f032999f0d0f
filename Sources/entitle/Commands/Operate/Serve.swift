import ArgumentParser
import Encodings
import EntitlementLedger
import Entitlements
import EventLog
import Foundation
import LMDBStorage
import LedgerAPI
import LedgerOperations
import LedgerServer

/// The command `entitle serve`.
struct Serve: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract: "Serves the ledger over HTTP.",
        discussion: HelpText.discussion(
            """
            Answers about customers to nobody without a key (entitle keys create) or a customer's \
            token; health, /openapi.json and signals that a store vouches for need none. SIGTERM \
            lets the answers under way go out; SIGHUP reads stores, the keys of customers and the \
            certificate again. Settings stand in flags, in ENTITLE_HOST, ENTITLE_PORT, ENTITLE_STORES \
            and the like, or in the configuration file.
            """,
            examples: "entitle serve --port 8080"
        )
    )

    @OptionGroup var options: LedgerOptions
    @Option(help: "The address to listen on, or unix: and a socket's path (default: 127.0.0.1).")
    var host: String?
    @Option(help: "The port; 0 picks one (default: 8080).") var port: Int?
    @Flag(help: "A new ledger in a temporary directory, with a key that is shown; gone at the end.")
    var ephemeral = false
    @Flag(help: "Answers questions only.") var readOnly = false
    @Flag(help: "As a machine of the cluster that cluster.json in the directory names.")
    var cluster = false
    @Option(help: "A catalog to publish at once; with --ephemeral.") var catalog: String?
    @OptionGroup var stores: StoresOptions
    @Option(help: "A certificate chain in PEM: serves over TLS.") var tlsCertificate: String?
    @Option(help: "Its private key, a file in PEM.") var tlsKey: String?
    @Option(help: "Whose tokens let customers in: a JWK set or public keys in PEM.")
    var customerKeys: String?
    @Option(help: "trace, debug, info (a line for each request), notice (default), warning, error.")
    var logLevel: String?

    func run() async throws {
        try requireFlags()
        guard !(ephemeral && readOnly) else {
            throw OperationFault(.usage, "--ephemeral and --read-only exclude one another")
        }
        guard catalog == nil || ephemeral else {
            throw OperationFault(
                .usage,
                "--catalog goes with --ephemeral",
                hint: "publish it with `entitle catalog publish FILE`"
            )
        }
        if cluster { return try await serveCluster() }
        let place = try ephemeral ? TemporaryLedger() : nil
        defer { place?.remove() }
        let open = try place?.open(catalog: catalog) ?? openAsPossible()
        do {
            try await serve(
                open,
                at: place?.path ?? options.path,
                key: place?.key,
                masterKey: { [keyOptions = options.keyOptions, place] in
                    try place?.masterKey ?? keyOptions.renewed()
                }
            )
        } catch {
            open.close(after: error)
            throw error
        }
        open.end(warn: Terminal.warn)
    }

    /// Opens the ledger to be written to; to be read, where its disk is full: questions are
    /// answered then, and a backup to another disk can be made.
    private func openAsPossible() throws -> OpenLedger {
        do {
            return try options.open(writing: !readOnly)
        } catch  where !readOnly && LogStorageFault.isFullDisk(error) {
            Terminal.note(
                "warning: the disk is full: only questions are answered; make room, then start again"
            )
            return try options.open(writing: false)
        }
    }

    /// Refuses what a flag says before anything is opened: it is the command that is not in order then, and
    /// not its configuration.
    private func requireFlags() throws {
        if let port { try PortArgument.require(port) }
        if let logLevel, !ServerConfiguration.logLevels.contains(logLevel) {
            throw OperationFault(
                .usage,
                "no such log level",
                place: "--log-level",
                hint: ServerConfiguration.logLevels.joined(separator: ", ")
            )
        }
    }

    /// What is set, flags first.
    ///
    /// `isTemporary`: whether the ledger is gone with its server: archive and published checkpoints are those of
    /// the operator's own ledger then. `hasStore`: whether a store is played beside it: no other is asked.
    private func settings(isTemporary: Bool, hasStore: Bool) -> Settings {
        var settings = Invocation.current.settings
        let flags: [(Setting, String?)] = [
            (.host, host), (.port, port.map(String.init)), (.stores, stores.stores),
            (.tlsCertificateFile, tlsCertificate), (.tlsKeyFile, tlsKey),
            (.customerKeysFile, customerKeys), (.logLevel, logLevel),
        ]
        for (setting, text) in flags { settings.set(setting, byFlag: text) }
        if isTemporary { settings.clear([.archive, .publish]) }
        if hasStore { settings.clear([.stores]) }
        return settings
    }

    /// Serves an open ledger until it is told to end.
    ///
    /// `key`: one that is shown; nil: none is. `simulator`: a store that is played beside it, by whose clock
    /// it goes; nil: none is. `node`: the machine of a cluster that it is; nil: of none.
    /// `deliveries`: where its machines hold in common what is told to others. `isListening`: told the address,
    /// once it is there.
    func serve(
        _ open: OpenLedger,
        at path: String,
        key: String?,
        beside simulator: (any SimulatedStoreDesk)? = nil,
        as node: ClusterNode? = nil,
        tellingIn deliveries: (any ClusterDeliveries)? = nil,
        masterKey: @escaping @Sendable () throws -> [UInt8],
        isListening: @escaping @Sendable (LedgerServer.Listening) -> Void = { _ in }
    ) async throws {
        let settings = settings(isTemporary: key != nil, hasStore: simulator != nil)
        var options = try await ServerConfiguration(
            settings,
            ofLedgerAt: path,
            variable: { ProcessInfo.processInfo.environment[$0] },
            log: { Terminal.note($0) }
        )
        .options(open.ledger)
        options.keyOptions = keyOptions(ofLedgerAt: path)
        options.passedSocket = try PassedSocket(
            processID: ProcessInfo.processInfo.processIdentifier
        ) { ProcessInfo.processInfo.environment[$0] }
        options.simulator = simulator
        if let simulator { options.clock = simulator.clock }
        options.manager = ServiceManager(
            processID: ProcessInfo.processInfo.processIdentifier
        ) { ProcessInfo.processInfo.environment[$0] }
        options.cluster = node
        let webhooks =
            open.ledger.isReadOnly
            ? nil : try Webhooks(ofLedgerAt: path, open.ledger, sharedIn: deliveries)
        defer { webhooks?.close() }
        options.webhooks = webhooks
        // Of a ledger that is gone when its server ends nobody asks by its directory.
        if !open.ledger.isReadOnly, key == nil {
            options.socketPath = try LedgerSocket.prepare(ofLedgerAt: path)
            if options.socketPath == nil {
                Terminal.warn(
                    "the ledger's path is too long for a socket: commands cannot ask here"
                )
            }
        }
        options.figures = {
            LedgerFigures(of: open, at: path, archive: settings[.archive])
        }
        options.isReadOnlyByFault = open.ledger.isReadOnly && !readOnly
        options.audit = { scope, pace, isEnded in
            try AuditChild.own.report(
                on: path,
                masterKey: masterKey(),
                scope,
                isBehind: pace == .behind,
                isEnded: isEnded
            )
        }
        let wantsJSON = self.options.json
        do {
            try await LedgerServer.run(options) { server in
                Self.tell(server, key: key, asJSON: wantsJSON)
                isListening(server)
            }
        } catch let error where LedgerServer.isAddressFault(error) {
            throw OperationFault(
                .cannotListen,
                "the address cannot be listened on",
                place: options.address(listeningAt: options.port),
                hint: "choose another with --host and --port; --port 0 picks one"
            )
        }
    }

    /// Where the key of a ledger comes from, without a key.
    private func keyOptions(ofLedgerAt path: String) -> MasterKeyOptions {
        var key = MasterKeyOptions(ofLedgerAt: path, Invocation.current.settings)
        // One that is made for this run is told by no flag.
        guard path == options.path else { return key }
        key = options.keyOptions
        key.passed = nil
        return key
    }

    /// Says where it listens.
    private static func tell(_ server: LedgerServer.Listening, key: String?, asJSON: Bool) {
        let url = server.address
        guard asJSON else {
            Terminal.line("listening on \(url)" + (key.map { " with key \($0)" } ?? ""))
            // Not into a file or a log, where others read it.
            if Terminal.isOutputTerminal {
                Terminal.line("console: \(server.makeConsoleLink())")
            }
            return
        }
        var members = [
            JSONMember("event", "listening"), JSONMember("url", .string(url)),
            JSONMember("pid", .integer(ProcessInfo.processInfo.processIdentifier)),
        ]
        if let key { members.append(JSONMember("key", .string(key))) }
        Terminal.line(.object(members))
    }
}
