import Encodings
package import EventLog

/// The index of a log up to a position: runs that follow one another without a gap.
///
/// A value: who adds to it makes another one.
package struct IndexTables: Sendable {
    /// The runs, the earliest events first.
    package let runs: [IndexRun]
    package let position: ViewPosition

    package init(runs: [IndexRun], position: ViewPosition) {
        self.runs = runs
        self.position = position
    }

    /// Size of the log that the runs list.
    package var size: UInt64 { position.treeSize }

    /// Whether these are the same runs, not only equal ones.
    package func isSame(as other: IndexTables?) -> Bool {
        guard let other, runs.count == other.runs.count else { return false }
        return zip(runs, other.runs).allSatisfy { $0 === $1 }
    }

    /// The events that may be a signal's, ascending: their records tell.
    package func candidates(for signal: SignalDigest) throws -> [UInt64] {
        var candidates: [UInt64] = []
        for run in runs {
            try run.signals.read(Posting.key(of: signal)) { posting in
                if posting.tag == Posting.tag(of: signal) { candidates.append(posting.sequence) }
            }
        }
        return candidates
    }

    /// The entries of a stream below a size, ascending.
    package func entries(of stream: UInt64, below size: UInt64) throws -> [StreamEntry] {
        var entries: [StreamEntry] = []
        for run in runs where run.sequences.lowerBound < size {
            try run.streams.read(stream) { posting in
                guard posting.sequence < size else { return }
                entries.append(StreamEntry(sequence: posting.sequence, kind: posting.tag))
            }
        }
        return entries
    }

    /// The last sequence of a stream at or after a size; nil if there is none.
    package func lastSequence(of stream: UInt64, from size: UInt64 = 0) throws -> UInt64? {
        for run in runs.reversed() where run.sequences.upperBound > size {
            if let last = try run.streams.last(of: stream)?.sequence {
                return last >= size ? last : nil
            }
        }
        return nil
    }
}

/// An event in a stream.
@usableFromInline
package struct StreamEntry: Hashable {
    @usableFromInline package var sequence: UInt64
    @usableFromInline package var kind: UInt8

    @inlinable
    package init(sequence: UInt64, kind: UInt8) {
        self.sequence = sequence
        self.kind = kind
    }
}
