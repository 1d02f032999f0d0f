import ArgumentParser
import EntitlementLedger
import Entitlements
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
    }

    /// A new identity; nil: it stays the same ledger.
    func identity() -> LedgerDirectory.Identity? {
        guard let origin else { return nil }
        var randomness = RandomSource.system
        return (randomness.bytes(16), origin)
    }

    /// The first event under the new name says where the log came from.
    func note(
        at new: String,
        masterKey: [UInt8],
        acceptedClock: Instant?,
        of old: String,
        checkpoint: Checkpoint?,
        gaps: [Range<UInt64>] = []
    ) throws {
        var options = OpenLedger.Options(key: .bytes(masterKey))
        options.mapSize = try Settings.current.checkedMapSize()
        options.acceptedClock = acceptedClock
        let open = try OpenLedger(at: new, options: options)
        defer { open.end() }
        try open.ledger.noteContinuation(of: old, checkpoint: checkpoint, gaps: gaps)
    }
}
