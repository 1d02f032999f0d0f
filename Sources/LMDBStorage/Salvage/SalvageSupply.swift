package import EventLog

/// A second copy from which gaps are filled: an archive, a backup, another ledger of the same log.
///
/// Nothing of it is believed: a record counts where its hash is that of the tree.
package protocol SalvageSupply: Sendable {
    /// Records that may stand at the places of a bundle, in any order.
    func records(ofBundle bundle: UInt64) throws -> [[UInt8]]

    /// Values that may be a tile.
    func tiles(level: Int, index: UInt64) throws -> [[UInt8]]

    /// An evidence or attachment with this SHA-256, of a record of a bundle.
    func companion(_ digest: Digest, ofBundle bundle: UInt64) throws -> [UInt8]?

    /// What may be shared parts of evidence.
    func sharedParts(_ body: ([UInt8]) throws -> Void) throws

    /// Texts that may be checkpoints.
    func notes() throws -> [String]

    /// What the vault held of streams.
    func vaultItems(_ body: (VaultItem) throws -> Void) throws

    /// Ends of the log as the copy has it, each with the tree's edge.
    func ends() throws -> [LogEnd]
}

struct SuppliedHashes: HashSource {
    let supply: any SalvageSupply

    func tiles(_ key: TileKey) throws -> [[UInt8]] {
        try supply.tiles(level: key.level, index: key.index)
    }
}
