import Encodings
import EntitlementLedger
import Entitlements

/// Appends the items of files, batch by batch; resumable, because a known signal appends nothing.
struct Importer {
    let ledger: Ledger
    let reader: ItemReader
    let preservesRecordedTime: Bool
    /// Whether each item is answered on standard output once it is durable; nothing that has come
    /// in then waits for more.
    let acknowledges: Bool
    let onError: OnError
    let progress: Progress
    private(set) var report = ImportReport()
    /// What was refused since it was last taken, if the quarantine wants it.
    private var refusedBytes: [[UInt8]] = []

    /// What a refused item does.
    enum OnError: String, CaseIterable {
        case stop, skip, quarantine
    }

    /// Lines that are read, prepared and recorded together.
    private static let batchLineCount = 4096
    /// Batches that are read and prepared while one is recorded.
    private static let batchesAhead = 2
    /// A JSON document over several lines has at most so many bytes.
    private static let documentByteLimit = 64 << 20

    init(
        _ ledger: Ledger,
        _ reader: ItemReader,
        _ onError: OnError,
        preservesRecordedTime: Bool,
        acknowledges: Bool,
        progress: Progress
    ) {
        self.ledger = ledger
        self.reader = reader
        self.onError = onError
        self.preservesRecordedTime = preservesRecordedTime
        self.acknowledges = acknowledges
        self.progress = progress
    }

    /// Hands over what was refused, to be kept in quarantine.
    mutating func takeRefused() -> [[UInt8]] {
        defer { refusedBytes = [] }
        return refusedBytes
    }

    /// Imports lines that are in memory already.
    mutating func run(_ lines: [LineReader.Line]) throws {
        _ = try record(prepareAhead(lines).take())
    }

    /// Imports one file, with a pause after each batch; false: it stopped at a refusal or an interrupt.
    ///
    /// Lines are prepared on all cores while those before them are recorded, in their order.
    mutating func run(
        _ file: String,
        afterBatch: (inout Importer) throws -> Void = { _ in }
    ) throws -> Bool {
        let reader = try LineReader(file)
        var batches: [PreparedBatch] = []
        var isAtEnd = false
        var isFirst = true
        while true {
            // What has come in does not wait for what has not, if it is to be acknowledged.
            while !isAtEnd, batches.count < Self.batchesAhead,
                batches.isEmpty || !acknowledges || reader.holdsLine
            {
                if let batch = try nextBatch(reader, isFirst: isFirst) {
                    batches.append(batch)
                } else {
                    isAtEnd = true
                }
                isFirst = false
            }
            if batches.isEmpty { return true }
            let goesOn = try record(batches.removeFirst().take())
            try afterBatch(&self)
            guard goesOn else { return false }
            progress.show(report.items, of: nil)
            if Interrupt.isRaised { return false }
        }
    }

    /// Reads the next lines and begins to prepare them; nil at the end.
    private func nextBatch(_ reader: LineReader, isFirst: Bool) throws -> PreparedBatch? {
        var lines: [LineReader.Line] = []
        while lines.count < Self.batchLineCount, let line = try reader.next() {
            if line.isBlank { continue }
            lines.append(line)
            if isFirst, lines.count == 1, let whole = try document(startingWith: line, reader) {
                let preparation = preparation
                return PreparedBatch { try whole.map(preparation.prepared) }
            }
            if acknowledges && !reader.holdsLine { break }
        }
        return lines.isEmpty ? nil : prepareAhead(lines)
    }

    private func prepareAhead(_ lines: [LineReader.Line]) -> PreparedBatch {
        let (reader, preparation) = (reader, preparation)
        return PreparedBatch {
            var prepared: [PreparedItem] = []
            prepared.reserveCapacity(lines.count)
            for line in lines {
                for item in reader.items(line) { prepared.append(try preparation.prepared(item)) }
            }
            return prepared
        }
    }

    private var preparation: ItemPreparation {
        ItemPreparation(ledger: ledger, preservesRecordedTime: preservesRecordedTime)
    }

    /// One JSON document over several lines, such as a pretty-printed array of webhooks; nil if
    /// the first line is a value by itself.
    private func document(
        startingWith line: LineReader.Line,
        _ reader: LineReader
    ) throws -> [ImportFormat.Item]? {
        // Why it is not JSON does not matter: it may be the first line of a longer text.
        guard let bytes = line.bytes, (try? JSONValue(parsing: bytes)) == nil,
            let first = bytes.first(where: { $0 != 0x20 && $0 != 0x09 }),
            first == UInt8(ascii: "{") || first == UInt8(ascii: "["), bytes.count < 4096,
            let rest = try reader.peekRest(limit: Self.documentByteLimit)
        else { return nil }
        let whole = bytes + [0x0A] + rest
        guard let json = try? JSONValue(parsing: whole) else { return nil }
        reader.skipRest()
        return self.reader.items(json, whole, line)
    }

    /// Records items in their order; false: it stopped at a refusal.
    private mutating func record(_ items: [PreparedItem]) throws -> Bool {
        // With `stop` nothing behind the first refused item is recorded.
        let firstRefused = items.firstIndex { (try? $0.result.get()) == nil } ?? items.count
        let taken = onError == .stop ? items.prefix(firstRefused + 1) : items[...]
        let submissions = taken.compactMap { try? $0.result.get() }
        var receipts = try ledger.record(submissions, untilRefused: onError == .stop)[...]
        if acknowledges {
            acknowledge(taken.filter { (try? $0.result.get()) != nil }.map(\.line), receipts)
        }
        for item in taken {
            let refusedBefore = report.refused
            switch item.result {
            case .failure(let refusal): report.refuse(item.line, refusal)
            case .success:
                guard let receipt = receipts.popFirst() else { return false }
                report.count(item.line, receipt)
            }
            if onError == .quarantine, report.refused > refusedBefore, let bytes = item.bytes {
                refusedBytes.append(bytes)
            }
        }
        return onError != .stop || report.refused == 0
    }

    /// Says what became of items, after the commit that holds them has returned.
    private func acknowledge(_ numbers: [Int], _ receipts: ArraySlice<Receipt>) {
        let lines = zip(numbers, receipts).map { number, receipt in
            let (outcome, sequence): (String, UInt64?) =
                switch receipt {
                case .appended(let first, _): ("appended", first)
                case .duplicate(let first): ("duplicate", first)
                case .known: ("known", nil)
                case .refused: ("refused", nil)
                }
            let json = JSONValue.members([
                "line": .integer(number), "outcome": .string(outcome),
                "sequence": sequence.map { .integer($0) } ?? .null,
            ])
            return json.description + "\n"
        }
        Terminal.write(lines.joined())
    }
}

/// What an import did: the `import` shape (Interfaces, "Shapes").
struct ImportReport {
    /// Items whose events were appended.
    var appended = 0
    /// Items that were known.
    var duplicate = 0
    /// Items that were refused.
    var refused = 0
    private var refusals: [(line: Int, refusal: ImportRefusal)] = []

    /// Refusals that are listed one by one; all are counted.
    private static let refusalLimit = 10_000

    var items: UInt64 { UInt64(appended + duplicate + refused) }

    private var refusedByCode: [String: Int] = [:]

    /// Refusals by reason, all of them.
    var reasons: [(code: String, count: Int)] {
        refusedByCode.map { (code: $0.key, count: $0.value) }.sorted { $0.code < $1.code }
    }

    mutating func refuse(_ line: Int, _ refusal: ImportRefusal) {
        refused += 1
        refusedByCode[refusal.code, default: 0] += 1
        if refusals.count < Self.refusalLimit { refusals.append((line, refusal)) }
    }

    mutating func count(_ line: Int, _ receipt: Receipt) {
        switch receipt {
        case .appended: appended += 1
        case .duplicate, .known: duplicate += 1
        case .refused(let refusal):
            refuse(line, ImportRefusal(refusal.code.rawValue, refusal.path, refusal.detail))
        }
    }

    var firstRefusal: (line: Int, refusal: ImportRefusal)? { refusals.first }

    func json(sequence: UInt64) -> JSONValue {
        .members([
            "appended": .integer(appended), "duplicate": .integer(duplicate),
            "refused": .integer(refused), "sequence": .integer(sequence),
            "refusals": .array(
                refusals.map {
                    .members([
                        "line": .integer($0.line), "code": .string($0.refusal.code),
                        "path": .string($0.refusal.path), "detail": .string($0.refusal.detail),
                    ])
                }
            ),
        ])
    }
}
