import Entitlements
import EventLog
import PostingIndex

/// Where the steps of a report come from, in a prefix of the log.
protocol StepSource: Sendable {
    /// Adds what all of the prefix adds, from the log alone.
    func addAll(to table: inout StepTable) throws

    /// Adds what some streams changed since an earlier prefix: what concerns them as it stands, less
    /// what it was; false where that is more than should be read for a question.
    ///
    /// `spoken`: streams that an event since speaks of, by the kind of one that says most of them.
    func addChange(
        of spoken: [UInt64: EventKind],
        since first: UInt64,
        to table: inout StepTable
    ) throws -> Bool
}

/// Steps of subjects whose records are read alone.
struct SubjectSteps<Item: Sendable>: StepSource {
    let fold: SubjectFold<Item>
    /// Adds what the items of a subject add, ascending by sequence.
    let add: @Sendable ([Item], FactNames, inout StepTable) throws -> Void

    func addAll(to table: inout StepTable) throws {
        let (exactFrom, grain) = (table.exactFrom, table.grain)
        let parts = try fold.run { part in
            var table = StepTable(exactFrom: exactFrom, grain: grain)
            let names = part.names.names
            try part.forEach { _, items in try add(items, names, &table) }
            table.settle()
            return table
        }
        for part in parts { table.merge(part) }
    }

    func addChange(
        of spoken: [UInt64: EventKind],
        since first: UInt64,
        to table: inout StepTable
    ) throws -> Bool {
        var reader = SubjectReader(fold)
        var (before, after) = (table.emptied, table.emptied)
        for stream in spoken.keys.sorted() {
            guard let found = try reader.items(aboutSubjectOf: stream) else { continue }
            guard reader.isWithinLimit else { return false }
            let names = reader.names.names
            try add(found.filter { $0.sequence < first }.map(\.item), names, &before)
            try add(found.map(\.item), names, &after)
        }
        table.merge(before, times: -1)
        table.merge(after)
        return true
    }
}

/// Reads the records of single subjects through the index, as `SubjectFold` reads them all.
struct SubjectReader<Item: Sendable> {
    private let fold: SubjectFold<Item>
    private(set) var names = FactNameTable()
    private var met: Set<UInt64> = []
    private var readCount = 0

    /// Records that are read for one question.
    private static var readLimit: Int { 200_000 }

    init(_ fold: SubjectFold<Item>) { self.fold = fold }

    /// Whether no more was read than should be for a question.
    var isWithinLimit: Bool { readCount <= Self.readLimit }

    /// The items of a stream and of all that links ever joined with it, ascending by sequence; nil if
    /// they were handed out already, or are too many.
    mutating func items(
        aboutSubjectOf stream: UInt64
    ) throws -> [(sequence: UInt64, item: Item)]? {
        guard met.insert(stream).inserted else { return nil }
        var (queue, streams) = ([stream], Set([stream]))
        var sequences: Set<UInt64> = []
        while let next = queue.popLast() {
            for entry in try fold.questions.views.entries(of: next, below: fold.size) {
                guard let kind = EventKind(rawValue: entry.kind), fold.kinds.contains(kind),
                    sequences.insert(entry.sequence).inserted, kind == fold.link
                else { continue }
                try fold.questions.log.readRecords([entry.sequence]) { _, record in
                    let header = try RecordHeader(checking: record)
                    for joined in try [header.stream] + header.otherStreams(record)
                    where streams.insert(joined).inserted {
                        met.insert(joined)
                        queue.append(joined)
                    }
                }
            }
        }
        readCount += sequences.count
        guard isWithinLimit else { return [] }
        var items: [(sequence: UInt64, item: Item)] = []
        var signals = SignalSet(expecting: sequences.count)
        try fold.questions.log.readRecords(sequences.sorted()) { sequence, record in
            let header = try RecordHeader(checking: record)
            guard header.sequence == sequence else {
                throw LogStorageFault(.damaged, "record \(sequence) is another")
            }
            guard streams.contains(header.stream),
                let item = try fold.read(header, record, &names),
                // E1: as a last defence.
                signals.insert(header.signal, of: header.stream)
            else { return }
            items.append((sequence, item))
        }
        return items
    }
}
