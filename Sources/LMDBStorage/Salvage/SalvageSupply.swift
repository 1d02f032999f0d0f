package import Salvage

/// A second copy of a ledger from which gaps are filled: an archive, a backup, another ledger of the
/// same log.
package protocol SalvageSupply: DamagedSource {
    /// What the vault held of streams.
    func vaultItems(_ body: (VaultItem) throws -> Void) throws
}
