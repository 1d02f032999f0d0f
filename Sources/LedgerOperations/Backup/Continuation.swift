import EntitlementLedger
package import EventLog
package import LMDBStorage

/// A log that goes on under a new ledger id and name.
public struct Continuation: Sendable {
    /// The new id and name.
    package let identity: LedgerDirectory.Identity
    private let options: OpenLedger.Options

    /// Draws an id.
    ///
    /// `origin`: the log's new name in checkpoints. `options`: what the new ledger is opened with to
    /// record where its log came from.
    public init(named origin: String, opening options: OpenLedger.Options) {
        var randomness = options.randomness
        identity = (randomness.bytes(LedgerIdentity.idByteCount), origin)
        self.options = options
    }

    /// Records where the log came from: the first event under the new name says so.
    ///
    /// `old`: the name that the log had; `checkpoint`: what it was last signed at; `gaps`: records
    /// that are lost.
    ///
    /// - Throws: as opening it does; `LedgerFault`, `LogStorageFault`.
    package func note(
        at path: String,
        of old: String,
        checkpoint: Checkpoint?,
        gaps: [Range<UInt64>] = []
    ) throws {
        let ledger = try Ledger.open(at: path, options: options)
        // What was recorded stands (E3): views are remade from it at any time.
        defer { try? ledger.close() }
        try ledger.appender.noteContinuation(of: old, checkpoint: checkpoint, gaps: gaps)
    }
}
