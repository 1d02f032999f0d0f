import Entitlements
import EventLog

extension LogReader {
    /// Lends each record of a range with its header, ascending, until the body returns false.
    ///
    /// - Throws: `LogStorageFault.damaged` where a record is not what it should be.
    func scan(
        from first: UInt64,
        upTo end: UInt64,
        _ body: (RecordHeader, Span<UInt8>) throws -> Bool
    ) throws {
        try scanRecords(from: first, upTo: end) { sequence, record in
            let header = try RecordHeader(reading: record)
            guard header.sequence == sequence else {
                throw LogStorageFault(.damaged, "record \(sequence) is another")
            }
            return try body(header, record)
        }
    }

    /// Lends the bytes that stand for each record of a range, ascending, until the body returns
    /// false; nothing of them is read.
    ///
    /// Gaps that a salvage left are passed over. `walkEnd`: ends it between two blocks; nil: nobody does.
    func scanRecords(
        from first: UInt64,
        upTo end: UInt64,
        until walkEnd: WalkEnd? = nil,
        _ body: (_ sequence: UInt64, Span<UInt8>) throws -> Bool
    ) throws {
        try readBlocks(from: first, upTo: end) { start, block in
            try walkEnd?.check()
            let count = try Bundle.count(block)
            for index in 0..<count {
                let sequence = start + UInt64(index)
                if sequence < first { continue }
                if sequence >= end { return false }
                let range = try Bundle.range(of: index, count: count, in: block)
                let record = block.extracting(range)
                if LostRecord.isOne(record) { continue }
                if try !body(sequence, record) { return false }
            }
            return true
        }
    }
}

extension LogReader {
    /// T3 of a record; of a gap that a salvage left, that of the record before.
    func recordedAt(_ sequence: UInt64) throws -> Instant {
        var recordedAt: Int64 = 0
        try readRecords([sequence]) { _, record in
            recordedAt =
                try LostRecord(record)?.recordedAt ?? RecordHeader(reading: record).recordedAt
        }
        return Instant(milliseconds: recordedAt)
    }

    /// How many of the first events were recorded by an instant: recorded time never goes back
    /// (law 2), so a binary search tells.
    func size(recordedBy instant: Instant, upTo size: UInt64) throws -> UInt64 {
        var (low, high) = (UInt64(0), size)
        while low < high {
            let middle = low + (high - low) / 2
            if try recordedAt(middle) <= instant { low = middle + 1 } else { high = middle }
        }
        return low
    }
}

extension RecordHeader {
    /// What views keep of the record: the streams that it names are read from its facts.
    func indexEntry(_ record: Span<UInt8>) throws -> IndexEntry {
        IndexEntry(
            sequence: sequence,
            signal: signal,
            kind: kind,
            stream: stream,
            others: try otherStreams(record)
        )
    }
}

extension EventKind {
    /// Whether events of this kind name other streams than their subject's.
    var namesStreams: Bool { Self.naming.contains(self) }
    /// Whether only a customer is the subject of such events.
    var isOfCustomer: Bool { Self.ofCustomers.contains(self) }
    /// Whether only a purchase is.
    var isOfPurchase: Bool { Self.ofPurchases.contains(self) }

    /// Whether events of this kind may hold a transaction's id.
    var holdsTransaction: Bool { Self.holding.contains(self) }

    private static let holding = KindSet {
        ($0.required + $0.optional).contains(.transactionID)
    }
    private static let naming = KindSet {
        ($0.required + $0.optional).contains { $0.placement == .stream }
    }
    private static let ofCustomers = KindSet { $0.subjects == [.customer] }
    private static let ofPurchases = KindSet { $0.subjects == [.purchase] }

    /// Kinds as bits: it is asked for each record of a log.
    private struct KindSet {
        private var bits: UInt64 = 0

        init(_ isMember: (EventShape) -> Bool) {
            for kind in EventKind.allCases where isMember(kind.shape) {
                bits |= 1 << UInt64(kind.rawValue)
            }
        }

        func contains(_ kind: EventKind) -> Bool { bits >> UInt64(kind.rawValue) & 1 == 1 }
    }
}
