import ArgumentParser
import Encodings
import EntitlementLedger
import Entitlements
import Foundation
import LMDBStorage
import LedgerOperations

/// What every command takes.
struct LedgerOptions: ParsableArguments {
    @Option(help: "The ledger's directory (default: $ENTITLE_LEDGER, else ./ledger).")
    var ledger: String?

    @Flag(help: "One JSON document on standard output; NDJSON where a command streams.")
    var json = false

    @Option(
        name: [.customLong("environment"), .customShort("e")],
        help: "production (default), sandbox or local."
    )
    var environmentName: String?

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
        help: ArgumentHelp(
            "Confirms that this is the date, where the clock is not believed (RFC 3339, or a date).",
            valueName: "date"
        )
    )
    var acceptClock: String?

    func acceptedClock() throws -> Instant? {
        try acceptClock.map { try InstantArgument.parse($0, place: "--accept-clock") }
    }

    var path: String {
        let path = ledger ?? Settings.current.ledger ?? "./ledger"
        Settings.current.ledgerPath = path
        return path
    }

    func environment() throws -> StoreEnvironment {
        let name = environmentName ?? Settings.current.environment ?? "production"
        guard let environment = StoreEnvironment(name: name) else {
            throw CommandFailure(
                .usage,
                "usage",
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
        let masterKey = try MasterKey.read(self)
        if !isCheck { try UncleanStop.check(path, key: masterKey) }
        var options = try OpenLedger.Options(
            key: .bytes(masterKey, renewed: { try MasterKey.renewed(self) }),
            isReadOnly: !writing
        )
        options.mapSize = try Settings.current.checkedMapSize()
        options.accessCacheByteLimit =
            try Settings.current.checkedAccessCacheSize() ?? options.accessCacheByteLimit
        options.recovery = recovery
        options.acceptedClock = try acceptedClock()
        return try OpenLedger(at: path, options: options)
    }

    /// Runs a body over the open ledger and closes it.
    func withLedger<Result>(
        writing: Bool,
        isCheck: Bool = false,
        recovery: Recovery? = nil,
        _ body: (Ledger) throws -> Result
    ) throws -> Result {
        try open(writing: writing, isCheck: isCheck, recovery: recovery).lend {
            try body($0.ledger)
        }
    }

    /// Runs a body over the open ledger whose last checkpoint is as new as can be, and closes it.
    func withCheckpointed<Result>(_ body: (OpenLedger) throws -> Result) throws -> Result {
        try Signing.openCheckpointed(warn: Terminal.warn) { try open(writing: $0) }.lend(body)
    }

    /// Lends the ledger without its master key, to be read.
    func withKeylessLedger<Result>(_ body: (Ledger) throws -> Result) throws -> Result {
        let ledger = try Ledger.openWithoutKey(
            at: path,
            mapSize: Settings.current.checkedMapSize()
        )
        let result: Result
        do {
            result = try body(ledger)
        } catch {
            // The first fault is the one that is told.
            try? ledger.close()
            throw error
        }
        try ledger.close()
        return result
    }
}

extension OpenLedger {
    /// Runs a body over it and closes it.
    func lend<Result>(_ body: (OpenLedger) throws -> Result) throws -> Result {
        let result: Result
        do {
            result = try body(self)
        } catch {
            close(after: error)
            throw error
        }
        end()
        return result
    }

    /// Closes it; warns where views were not written.
    func end() {
        do {
            try close()
        } catch {
            // What was recorded stands (E3): views are remade from it at any time.
            Terminal.warn("the views could not be written; `entitle rebuild` makes them anew")
        }
    }
}
