package import EventLog

/// The part of a ledger that signs checkpoints and proves by them what stands in the log.
public struct Prover: Sendable {
    let identity: LedgerIdentity
    let log: any LogReader
    let vault: any VaultReader
    /// The vault with the key that signs; nil: it is not at hand.
    let opened: (any Vault)?
    /// nil: the log is only read.
    let storage: (any LogStorage)?
    /// A checkpoint that was published before the log was restored to less.
    let published: String?
    /// Notes of checkpoints, one after the other: none loses what a witness signed meanwhile.
    let turn = Turn()

    /// The key that verifies this ledger's checkpoints.
    package var verifierKey: VerifierKey {
        get throws { try vault.verifierKey(named: identity.origin) }
    }

    /// The signer of this ledger's checkpoints.
    ///
    /// - Throws: `LogStorageFault` where its key is not at hand.
    var signer: NoteSigner {
        get throws {
            try NoteSigner(name: identity.origin, privateKey: opened.whole.checkpointKey)
        }
    }

    /// Seals for the ledger's own processes, for a purpose such as `deliveries`.
    ///
    /// - Throws: `LogStorageFault` where the ledger's key is not at hand.
    package func seal(for purpose: String) throws -> LedgerSeal {
        LedgerSeal(try opened.whole.checkpointKey, for: purpose)
    }
}
