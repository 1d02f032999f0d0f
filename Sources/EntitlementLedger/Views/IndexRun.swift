import EventLog

/// The index of a range of the log, by stream and by signal; it never changes.
final class IndexRun: Sendable {
    let description: Description
    /// Postings by stream; the tag is the event's kind.
    let streams: PostingTable
    /// Postings by the first bits of the signal's digest.
    let signals: PostingTable

    /// What a run is expected to be.
    struct Description: Sendable {
        /// Names its files.
        var number: UInt64
        /// The events that it lists.
        var sequences: Range<UInt64>
        /// The log's root at a size that is not below the range's end.
        var root: EventLog.Digest
        var streams = PostingTable.Description()
        var signals = PostingTable.Description()

        /// The keys of a table: for this ledger, this table and these events alone.
        func keys(of part: Part, _ seal: ViewSeal) -> PostingTable.Keys {
            var place = ByteWriter(reservingCapacity: 49)
            place.append(part.rawValue)
            place.append(sequences.lowerBound)
            place.append(sequences.upperBound)
            place.append(root)
            return PostingTable.Keys(
                blocks: seal.key("index blocks", place.bytes),
                firstKeys: seal.key("index first keys", place.bytes),
                filter: seal.key("index filter", place.bytes)
            )
        }
    }

    /// The two tables of a run.
    enum Part: UInt8, CaseIterable {
        case streams = 0
        case signals = 1
    }

    init(_ description: Description, streams: PostingTable, signals: PostingTable) {
        var description = description
        description.streams = streams.description
        description.signals = signals.description
        self.description = description
        self.streams = streams
        self.signals = signals
    }

    var sequences: Range<UInt64> { description.sequences }

    func table(_ part: Part) -> PostingTable {
        switch part {
        case .streams: streams
        case .signals: signals
        }
    }
}
