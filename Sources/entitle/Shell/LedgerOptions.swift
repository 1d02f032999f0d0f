import ArgumentParser
import EntitlementLedger
import Entitlements
import EventLog
import Foundation
import LMDBStorage

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
        if !isCheck { try UncleanStop.check(path, keyFile: keyFile) }
        return try OpenLedger(
            at: path,
            masterKey: masterKey,
            writing: writing,
            recovery: recovery
        )
    }

    /// Runs a body over the open ledger and closes it.
    func withLedger<Result>(
        writing: Bool,
        isCheck: Bool = false,
        recovery: Recovery? = nil,
        _ body: (Ledger) throws -> Result
    ) throws -> Result {
        let open = try open(writing: writing, isCheck: isCheck, recovery: recovery)
        let result: Result
        do {
            result = try body(open.ledger)
        } catch {
            open.close(after: error)
            throw error
        }
        open.close()
        return result
    }
}

/// The machine's clock and boot.
enum SystemClock {
    @Sendable static func now() -> Instant {
        Instant(milliseconds: Int64((Date().timeIntervalSince1970 * 1000).rounded(.down)))
    }

    /// Changes with each start of the machine (proc(5)).
    static let bootID =
        ((try? String(contentsOfFile: "/proc/sys/kernel/random/boot_id", encoding: .utf8))
        ?? "unknown")
        .filter { !$0.isWhitespace }
}

/// The 32 bytes that wrap the vault's keys.
enum MasterKey {
    static let byteCount = 32

    /// Reads the key: flag, then `ENTITLE_KEY`, then `ENTITLE_KEY_FILE`, then the ledger's own.
    static func read(_ options: LedgerOptions, needsLedger: Bool = true) throws -> [UInt8] {
        if options.keyFile == nil, let key = Settings.current.key {
            return try parse(key, place: "ENTITLE_KEY")
        }
        let file =
            options.keyFile ?? Settings.current.keyFile
            ?? options.path + "/" + LedgerDirectory.keyName
        if needsLedger { _ = try LedgerDirectory.manifest(at: options.path) }
        guard let text = try? String(contentsOfFile: file, encoding: .utf8) else {
            throw CommandFailure(
                .misconfigured,
                "no_key",
                "the master key cannot be read",
                place: file,
                hint: "give it with --key-file FILE, ENTITLE_KEY_FILE or ENTITLE_KEY"
            )
        }
        return try parse(text, place: file)
    }

    /// The same for a ledger that is being made.
    static func read(_ options: LedgerOptions, orAt path: String) throws -> [UInt8] {
        var options = options
        options.keyFile = file(options, orAt: path)
        return try read(options, needsLedger: false)
    }

    /// The key's file for a ledger that is being made: what is given, else its own if that stands
    /// there already, else that of the ledger at hand; nil where the key itself is given.
    static func file(_ options: LedgerOptions, orAt path: String) -> String? {
        if let given = options.keyFile { return given }
        if Settings.current.key != nil { return nil }
        if let given = Settings.current.keyFile { return given }
        let own = path + "/" + LedgerDirectory.keyName
        return FileManager.default.fileExists(atPath: own)
            ? own : options.path + "/" + LedgerDirectory.keyName
    }

    static func parse(_ text: String, place: String) throws -> [UInt8] {
        guard let bytes = Hexadecimal.decode(text.filter { !$0.isWhitespace }),
            bytes.count == byteCount
        else {
            throw CommandFailure(
                .misconfigured,
                "bad_key",
                "the master key is not 64 hexadecimal digits",
                place: place
            )
        }
        return bytes
    }
}
