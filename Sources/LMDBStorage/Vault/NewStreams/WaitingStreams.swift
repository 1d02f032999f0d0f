import EventLog

/// Streams that stand in the log and are to be taken over by the vault, ascending.
///
/// The vault answers for them as for its own.
struct WaitingStreams {
    private(set) var items: [Item] = []

    /// One of them.
    struct Item {
        var stream: UInt64
        /// Its sealed entry, as it stands in the log.
        var bytes: [UInt8]
        /// nil: it is erased, or the vault has the stream, and what it has counts.
        var entry: VaultEntry?
        /// Whether a tombstone is all that came of it.
        var isErased = false
    }

    var isEmpty: Bool { items.isEmpty }
    var count: Int { items.count }

    /// The entry of one of them.
    ///
    /// Cost: a binary search.
    func entry(of stream: UInt64) -> VaultEntry? {
        var range = 0..<items.count
        while !range.isEmpty {
            let middle = (range.lowerBound + range.upperBound) / 2
            if items[middle].stream == stream { return items[middle].entry }
            range =
                items[middle].stream < stream
                ? middle + 1..<range.upperBound : range.lowerBound..<middle
        }
        return nil
    }

    /// Adds streams behind those that wait.
    mutating func add(_ new: some Sequence<Item>) { items += new }

    /// Forgets the first, which the vault has.
    mutating func removeFirst(_ count: Int) { items.removeFirst(count) }
}
