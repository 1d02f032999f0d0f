package import EventLog

/// The index of a range of the log, by stream and by signal; it never changes.
package final class IndexRun: Sendable {
    package let description: Description
    /// Postings by stream; the tag is the event's kind.
    package let streams: PostingTable
    /// Postings by the first bits of the signal's digest.
    package let signals: PostingTable

    /// What a run is expected to be.
    package struct Description: Sendable {
        /// Names its files.
        package var number: UInt64
        /// The events that it lists.
        package var sequences: Range<UInt64>
        /// The log's root at a size that is not below the range's end.
        package var root: EventLog.Digest
        package var streams = PostingTable.Description()
        package var signals = PostingTable.Description()

        /// The keys of a table: for this ledger, this table and these events alone.
        package func keys(of part: Part, _ seal: ViewSeal) -> PostingTable.Keys {
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
    package enum Part: UInt8, CaseIterable {
        case streams = 0
        case signals = 1
    }

    package init(_ description: Description, streams: PostingTable, signals: PostingTable) {
        var description = description
        description.streams = streams.description
        description.signals = signals.description
        self.description = description
        self.streams = streams
        self.signals = signals
    }

    package var sequences: Range<UInt64> { description.sequences }

    package func table(_ part: Part) -> PostingTable {
        switch part {
        case .streams: streams
        case .signals: signals
        }
    }
}
