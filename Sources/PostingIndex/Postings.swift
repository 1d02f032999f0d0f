/// What both tables of a run get for a range of the log.
@usableFromInline
package struct Postings: Sendable {
    @usableFromInline package var streams: [Posting] = []
    @usableFromInline package var signals: [Posting] = []

    /// Makes room for the events of a range.
    package init(reservingFor count: Int) {
        // Few events name more streams than their subject's.
        streams.reserveCapacity(count + count / 8)
        signals.reserveCapacity(count)
    }

    /// What one table of a run gets.
    subscript(part: IndexRun.Part) -> [Posting] {
        switch part {
        case .streams: streams
        case .signals: signals
        }
    }

    /// Adds an event under a stream.
    @inlinable
    package mutating func append(stream posting: Posting) { streams.append(posting) }

    /// Adds an event under its signal.
    @inlinable
    package mutating func append(signal posting: Posting) { signals.append(posting) }

    /// Adds what follows.
    package mutating func append(_ others: Postings) {
        streams += others.streams
        signals += others.signals
    }

    /// Takes away the events below a sequence.
    package mutating func drop(below sequence: UInt64) {
        streams.removeAll { $0.sequence < sequence }
        signals.removeAll { $0.sequence < sequence }
    }

    /// Puts both in the order of their tables, at once.
    package mutating func sort() {
        let parts = IndexRun.Part.allCases
        let sorted = Concurrently.map(parts.count) { [self] number in
            var postings = self[parts[number]]
            postings.sortByKey()
            return postings
        }
        (streams, signals) = (sorted[0], sorted[1])
    }
}
