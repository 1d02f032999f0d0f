import EntitlementLedger
import LedgerOperations
import Stores

/// What a customer hands in, once its store vouches for it.
struct HandedIn: Sendable {
    var transaction: VerifiedTransaction
    /// What Google wants to be told once it is on the disk; nil: nothing.
    var acknowledgement: PlayAcknowledgement?
    /// What its store should be asked about first; nil: nothing, since the store has told.
    var evidence: ClaimedEvidence?

    init(
        _ transaction: VerifiedTransaction,
        _ acknowledgement: PlayAcknowledgement? = nil,
        evidence: ClaimedEvidence? = nil
    ) {
        self.transaction = transaction
        self.acknowledgement = acknowledgement
        self.evidence = evidence
    }
}
