import ArgumentParser
import Encodings
import EntitlementLedger
import Entitlements
import Foundation
import LMDBStorage
import LedgerOperations
import LedgerServer

/// What every command takes that works on a ledger.
struct LedgerOptions: ParsableArguments {
    @OptionGroup var common: CommonOptions

    @Option(help: "A file with the master key (default: $ENTITLE_KEY_FILE, else DIR/key).")
    var keyFile: String?

    @Option(
        name: .customLong("key-fd"),
        help: ArgumentHelp("An open descriptor that the master key is read from.", valueName: "n")
    )
    var keyDescriptor: Int32?

    @Option(
        help: ArgumentHelp(
            "A shell command that prints the master key (default: $ENTITLE_KEY_COMMAND).",
            valueName: "command"
        )
    )
    var keyCommand: String?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "Confirms that this is the date, where the clock is not believed (RFC 3339, or a date).",
            valueName: "date"
        )
    )
    var acceptClock: String?

    var ledger: String? {
        get { common.ledger }
        set { common.ledger = newValue }
    }

    var json: Bool { common.json }

    /// As it was typed; nil: it was not.
    var environmentName: String? { common.environmentName }

    func acceptedClock() throws -> Instant? {
        try acceptClock.map { try InstantArgument.parse($0, place: "--accept-clock") }
    }

    var path: String {
        let path = ledger ?? Invocation.current.settings[.ledger] ?? "./ledger"
        Invocation.current.ledgerPath = path
        return path
    }

    /// What was told of the master key.
    var keyOptions: MasterKeyOptions {
        var key = MasterKeyOptions(ofLedgerAt: path, Invocation.current.settings)
        key.file = keyFile
        key.descriptor = keyDescriptor.map(Invocation.descriptor)
        key.command = keyCommand
        key.passed = Invocation.current.passedKey
        return key
    }

    func environment() throws -> StoreEnvironment {
        let name = environmentName ?? Invocation.current.settings[.environment] ?? "production"
        guard let environment = StoreEnvironment(name: name) else {
            throw OperationFault(
                .usage,
                "no such environment",
                place: "--environment",
                hint: "production, sandbox or local"
            )
        }
        return environment
    }

    /// Opens the ledger; whoever opens it closes it.
    ///
    /// `writing`: whether to hold the writer's lock. `isCheck`: whether it is opened to be checked,
    /// also where its last writer was stopped. `recovery`: what others are locked out by.
    func open(
        writing: Bool,
        isCheck: Bool = false,
        recovery: Recovery? = nil
    ) throws -> OpenLedger {
        if !isCheck { try AuditChild.own.requireSoundAfterStop(path, key: keyOptions.read()) }
        var options = try opening(writing: writing)
        options.recovery = recovery
        return try OpenLedger(at: path, options: options)
    }

    /// What the ledger is opened with.
    ///
    /// `needsLedger`: whether a directory that is not there is named before its key.
    func opening(writing: Bool, needsLedger: Bool = true) throws -> OpenLedger.Options {
        let key = keyOptions
        var options = try Invocation.current.settings.opening(
            .bytes(key.read(needsLedger: needsLedger), renewed: { try key.renewed() }),
            isReadOnly: !writing
        )
        options.acceptedClock = try acceptedClock()
        return options
    }

    /// Runs a body over the open ledger and closes it.
    func withLedger<Result>(
        writing: Bool,
        isCheck: Bool = false,
        recovery: Recovery? = nil,
        _ body: (Ledger) throws -> Result
    ) throws -> Result {
        try open(writing: writing, isCheck: isCheck, recovery: recovery).lend(warn: Terminal.warn) {
            try body($0.ledger)
        }
    }

    /// Runs a body over the open ledger whose last checkpoint is as new as can be, and closes it.
    ///
    /// The server that holds it, if one does, is asked to sign it.
    func withCheckpointed<Result>(_ body: (OpenLedger) throws -> Result) throws -> Result {
        let path = path
        if let server = Blocking.wait({ await ServerClient.local(ofLedgerAt: path) }) {
            server.signIfAllowed()
        }
        return try Signing.openCheckpointed(warn: Terminal.warn) { try open(writing: $0) }
            .lend(warn: Terminal.warn, body)
    }

    /// Lends the ledger without its master key, to be read.
    func withKeylessLedger<Result>(_ body: (Ledger) throws -> Result) throws -> Result {
        let mapSize = try Invocation.current.settings.mapSize()
        return try Ledger.withoutKey(at: path, mapSize: mapSize, body)
    }
}
