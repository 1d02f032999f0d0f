import EntitlementLedger
import Stores

/// What a customer hands in, once its store vouches for it.
struct HandedIn: Sendable {
    var transaction: VerifiedTransaction
    /// What Google wants to be told once it is on the disk; nil: nothing.
    var acknowledgement: PlayAcknowledgement?
    /// What the App Store signed; nil: another store's.
    var signed: VerifiedAppStoreTransaction?

    init(
        _ transaction: VerifiedTransaction,
        _ acknowledgement: PlayAcknowledgement? = nil,
        signed: VerifiedAppStoreTransaction? = nil
    ) {
        self.transaction = transaction
        self.acknowledgement = acknowledgement
        self.signed = signed
    }
}
