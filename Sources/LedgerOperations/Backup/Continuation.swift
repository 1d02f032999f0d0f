import EntitlementLedger
import EventLog
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

    /// Opens the new ledger once: the first event under the new name says where its log came from.
    ///
    /// - Throws: `OperationFault`. The ledger stands all the same, and whoever opens it next to write to it
    ///   records that event first.
    package func begin(at path: String) throws {
        do {
            let ledger = try Ledger.open(at: path, options: options)
            // What was recorded stands (E3): views are remade from it at any time.
            try? ledger.close()
        } catch {
            var fault = OperationFault(telling: error, ofLedgerAt: path)
            fault.message +=
                "; the new ledger stands, and says where its log came from once it is written to"
            throw fault
        }
    }
}
