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
    /// The first sequence whose record is lost, in a gap or behind the end; nil: none is.
    public var firstLost: UInt64?

    /// Describes a loss.
    public init(
        isTreeLost: Bool = false,
        unconfirmed: UInt64 = 0,
        streams: UInt64 = 0,
        behindEnd: UInt64 = 0,
        firstLost: UInt64? = nil
    ) {
        self.isTreeLost = isTreeLost
        self.unconfirmed = unconfirmed
        self.streams = streams
        self.behindEnd = behindEnd
        self.firstLost = firstLost
    }

    /// Whether something may be missing in what a prefix says of somebody.
    ///
    /// `isEnd`: whether the prefix is all that is known.
    public func concerns(prefix size: UInt64, isEnd: Bool) -> Bool {
        streams > 0 || isEnd && behindEnd > 0 || firstLost.map { $0 < size } ?? false
    }
}
