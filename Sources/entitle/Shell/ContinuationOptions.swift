import ArgumentParser
import EventLog
import LMDBStorage
import LedgerOperations

/// How a log goes on under a new name.
struct ContinuationOptions: ParsableArguments {
    @Flag(
        name: .customLong("continue"),
        help: "Let the log go on under a new ledger id and --origin."
    )
    var continues = false

    @Option(help: "With --continue: the log's new name in checkpoints.")
    var origin: String?

    func validate() throws {
        guard continues == (origin != nil) else {
            throw ValidationError("--continue and --origin go together")
        }
        // Before anything is made.
        guard origin.map(NoteName.isValid) ?? true else {
            throw ValidationError("--origin: a log's name has no space and no plus")
        }
    }

    /// The log under its new name; nil: it stays the same ledger.
    func made(_ options: LedgerOptions, masterKey: [UInt8]) throws -> Continuation? {
        guard let origin else { return nil }
        var open = try Invocation.current.settings.opening(.bytes(masterKey))
        open.acceptedClock = try options.acceptedClock()
        return Continuation(named: origin, opening: open)
    }
}
