/// What a salvage could not bring back beside records: it goes with the ledger, so that no audit
/// passes over it.
public struct KnownLoss: Codable, Sendable, Equatable {
    /// Whether leaf hashes are lost too: the tree is not the one that was signed, and nothing is
    /// written until the log goes on under a new name.
    public var isTreeLost: Bool
    /// Records that were kept and that no hash confirms.
    public var unconfirmed: UInt64
    /// Streams whose name and key are lost.
    public var streams: UInt64
    /// Records at the log's end that are lost, behind its last one.
    public var behindEnd: UInt64

    /// Describes a loss.
    public init(isTreeLost: Bool, unconfirmed: UInt64, streams: UInt64, behindEnd: UInt64) {
        self.isTreeLost = isTreeLost
        self.unconfirmed = unconfirmed
        self.streams = streams
        self.behindEnd = behindEnd
    }
}
