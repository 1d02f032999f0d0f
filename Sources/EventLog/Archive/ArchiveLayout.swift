/// The paths of an archive and what its files may hold at most (schemas/log-format.md).
///
/// `checkpoint` and `tile/…` are as C2SP tlog-tiles has them, so that other people's programs read
/// them; the rest stands beside.
package enum ArchiveLayout {
    /// The newest checkpoint: everything up to its size is there.
    package static let checkpoint = "checkpoint"
    /// What `ledger.json` says, so that a ledger can be made from the archive.
    package static let manifest = "ledger.json"
    /// What a salvage of the ledger lost.
    static let loss = KnownLoss.fileName
    /// A checkpoint that the log does not extend, since it was restored to less.
    static let published = "published"
    /// Older checkpoints, each under its size.
    static let checkpoints = "checkpoints"
    /// What records of a bundle carry, one after the other.
    static let attached = "companions"
    /// Parts that evidences have in common, each under its digest.
    static let shared = "shared"
    /// Ends the name of a folder of partial files.
    static let partial = ".p"

    /// Bytes of a checkpoint.
    static let noteLimit = SignedNote.byteLimit
    /// Bytes of a manifest.
    static let manifestLimit = 1 << 16
    /// Bytes of what is said of a loss.
    static let lossLimit = 1 << 12
    /// Bytes of a tile.
    static let tileLimit = TileCoordinate.fullWidth * Digest.byteCount
    /// Bytes of a bundle: each record with its length before it.
    static let bundleLimit = TileCoordinate.fullWidth * (RecordHeader.lengthLimit + 2)
    /// Bytes of an evidence or attachment, catalog documents included, with what stands around them.
    static let attachedLimit = 8 << 20 + 4 << 10
    /// Bytes of the evidences and attachments of a bundle.
    static let attachedFileLimit = TileCoordinate.fullWidth * attachedLimit

    /// Where a bundle's records stand.
    static func entries(_ index: UInt64, width: Int = TileCoordinate.fullWidth) -> String {
        TileCoordinate.entriesPath(index: index, width: width)
    }

    /// Where the evidences and attachments of a bundle's records stand.
    static func attached(_ index: UInt64, width: Int = TileCoordinate.fullWidth) -> String {
        attached + "/" + TileCoordinate.place(index, width: width)
    }

    /// Where a shared part stands.
    static func shared(_ digest: Digest) -> String { shared + "/" + digest.hex }

    /// Where the checkpoint of a size stands.
    static func checkpoint(size: UInt64) -> String { "\(checkpoints)/\(size)" }
}
