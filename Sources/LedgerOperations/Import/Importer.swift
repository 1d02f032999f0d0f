import Encodings
public import EntitlementLedger
public import Entitlements
package import LedgerAPI
public import Stores

/// Appends the items of files, batch by batch; resumable, because a known signal appends nothing.
public struct Importer {
    private let place: any ImportPlace
    private let options: Options
    /// What it did so far.
    public private(set) var report = ImportReport()
    /// The columns of the file that is read; nil: it is none of rows.
    private var rows: ExportedRows?
    /// What was refused since it was last taken, if the quarantine wants it.
    private var refusedBytes: [[UInt8]] = []

    /// What a refused item does.
    public enum OnError: String, Sendable, CaseIterable {
        /// Nothing behind it is recorded.
        case stop
        /// It is counted.
        case skip
        /// It is counted, and kept sealed.
        case quarantine
    }

    /// How items are read, and who is told of them.
    public struct Options: Sendable {
        /// What lines are.
        public var format = ImportFormat.auto
        /// Verifies what Apple signs; nil: the App Store is not configured.
        public var appStore: AppStoreVerifier?
        /// Whose purchases of Google Play are taken; nil: it is not configured.
        public var playStore: PlayConfiguration?
        /// What a refused item does.
        public var onError = OnError.stop
        /// Whether the `recordedtime` that events carry is kept.
        public var preservesRecordedTime = false
        /// Told what became of items by their lines, of what is recorded once it is durable; nothing that has come in
        /// then waits for more.
        package var acknowledge: (@Sendable ([ImportedLine]) -> Void)?
        /// Told now and then how many items there were.
        public var progress: @Sendable (ImportProgress) -> Void = { _ in }
        /// Whether to end after the commit that is under way.
        public var isInterrupted: @Sendable () -> Bool = { false }
        /// As of when signatures are verified.
        public var clock: @Sendable () -> Instant = SystemClock.now

        /// Lines of any format, up to the first that is refused.
        public init() {}
    }

    /// Lines that are read, prepared and recorded together, at most.
    private static let batchLineCount = 4096
    /// Bytes of such lines: a store's messages are long, and would all wait for one core.
    private static let batchByteCount = 1 << 20
    /// Batches that are read and prepared while one is recorded.
    private static let batchesAhead = 2
    /// A JSON document over several lines has at most so many bytes.
    private static let documentByteLimit = 64 << 20

    /// Imports into a ledger.
    public init(_ ledger: Ledger, _ options: Options = Options()) {
        self.init(into: ImportedLedger(ledger, options), options)
    }

    /// Imports into a place; who verifies and what becomes of recorded time is the place's affair.
    package init(into place: any ImportPlace, _ options: Options) {
        self.place = place
        self.options = options
    }

    /// Imports files, `-` for standard input, up to a refusal that stops or an interrupt.
    ///
    /// `quarantine`: what is refused goes there, if `onError` says so.
    ///
    /// - Throws: `OperationFault` for a file that cannot be read, before the first where it is not there or is
    ///   a directory; `LedgerFault`, `LogStorageFault`.
    public mutating func run(
        _ files: [String],
        quarantine: ImportQuarantine? = nil
    ) throws {
        // Else what is recorded of those before it would be told to nobody.
        for file in files where file != "-" { try LineReader.requireFile(file) }
        var quarantine = quarantine
        let sizes = files.map(LineReader.byteCount)
        let total = sizes.reduce(UInt64?(0)) { sum, size in
            sum.flatMap { sum in size.map { sum + $0 } }
        }
        var before: UInt64 = 0
        for (file, size) in zip(files, sizes) {
            defer { before += size ?? 0 }
            let goesOn = try run(file, after: before, of: total) { importer in
                try quarantine?.add(importer.takeRefused())
            }
            if !goesOn { return }
        }
    }

    /// Imports what was quarantined before; what is refused again stays there.
    ///
    /// - Throws: as importing files does.
    public mutating func retry(_ quarantine: ImportQuarantine) throws {
        var quarantine = quarantine
        try quarantine.replaceEachDay { lines in
            for batch in Self.batches(of: lines) {
                let items = try place.begin(ImportedLines(batch))()
                _ = count(items)
                // What is refused again stands there meanwhile (E3).
                options.acknowledge?(items.map(\.line))
            }
            return takeRefused()
        }
    }

    /// Lines as they are read together from a file: so a server takes them too.
    private static func batches(of lines: [LineReader.Line]) -> [[LineReader.Line]] {
        var batches: [[LineReader.Line]] = []
        var byteCount = 0
        for line in lines {
            let isFull = batches.last?.count == batchLineCount || byteCount >= batchByteCount
            if batches.isEmpty || isFull {
                batches.append([])
                byteCount = 0
            }
            batches[batches.count - 1].append(line)
            byteCount += line.bytes?.count ?? 0
        }
        return batches
    }

    /// Hands over what was refused, to be kept in quarantine.
    private mutating func takeRefused() -> [[UInt8]] {
        defer { refusedBytes = [] }
        return refusedBytes
    }

    private var acknowledges: Bool { options.acknowledge != nil }

    /// Imports one file, with a pause after each batch; false: it stopped at a refusal or an interrupt.
    ///
    /// `before`: bytes of the files before it; `total`: of all, where that is known.
    ///
    /// Lines are prepared on all cores while those before them are recorded, in their order.
    private mutating func run(
        _ file: String,
        after before: UInt64,
        of total: UInt64?,
        afterBatch: (inout Importer) throws -> Void
    ) throws -> Bool {
        let reader = try LineReader(file, isInterrupted: options.isInterrupted)
        report.file = file
        rows = nil
        var batches: [ImportTurn] = []
        var isAtEnd = false
        var isFirst = true
        while true {
            // What has come in does not wait for what has not, if it is to be acknowledged.
            while !isAtEnd, batches.count < Self.batchesAhead,
                batches.isEmpty || !acknowledges || reader.holdsLine
            {
                let mayWait = batches.isEmpty || !acknowledges
                if let batch = try nextBatch(reader, isFirst: isFirst, mayWait: mayWait) {
                    batches.append(batch)
                } else {
                    isAtEnd = mayWait
                }
                isFirst = false
            }
            if batches.isEmpty { return !options.isInterrupted() }
            let items = try batches.removeFirst()()
            let goesOn = count(items)
            // E3: who is told of a refused item finds it in the quarantine.
            try afterBatch(&self)
            options.acknowledge?(items.map(\.line))
            guard goesOn else { return false }
            options.progress(
                ImportProgress(
                    items: report.items,
                    bytes: before + reader.byteCount,
                    totalBytes: total
                )
            )
            if options.isInterrupted() { return false }
        }
    }

    /// Reads the next lines and begins to prepare them; nil at the end, and at an interrupt.
    ///
    /// `mayWait`: whether it waits for a line; else nil says too that none has come in yet.
    private mutating func nextBatch(
        _ reader: LineReader,
        isFirst: Bool,
        mayWait: Bool
    ) throws -> ImportTurn? {
        var lines: [LineReader.Line] = []
        let end = reader.byteCount + UInt64(Self.batchByteCount)
        // Blank lines are no batch, however many they are: without a line it is read on.
        while lines.isEmpty || (lines.count < Self.batchLineCount && reader.byteCount < end),
            (lines.isEmpty && mayWait) || !acknowledges || reader.holdsLine,
            var line = try reader.next()
        {
            if line.isBlank {
                if options.isInterrupted() { break }
                continue
            }
            if isFirst, lines.isEmpty, rows == nil, takesRows {
                rows = line.bytes.flatMap { ExportedRows(header: $0) }
                if rows != nil { continue }
            }
            if let rows { line = try row(of: rows, startingWith: line, reader) }
            lines.append(line)
            // Who waits to be told of a line may send the next one only then.
            if isFirst, lines.count == 1, !acknowledges,
                let whole = try document(startingWith: line, reader)
            {
                return try place.begin(ImportedLines(document: whole, at: line.number))
            }
        }
        return lines.isEmpty ? nil : try place.begin(ImportedLines(lines))
    }

    private var takesRows: Bool { [.auto, .revenuecat].contains(options.format) }

    /// A row as the JSON object of its columns; as it stands where it is no row of them, to be refused.
    private func row(
        of rows: ExportedRows,
        startingWith line: LineReader.Line,
        _ reader: LineReader
    ) throws -> LineReader.Line {
        guard var bytes = line.bytes else { return line }
        var row = ExportedRows.Row(bytes)
        while row.isOpen, bytes.count < LineReader.lineByteLimit,
            let next = try reader.next()?.bytes
        {
            bytes += [0x0A] + next
            row.add(next)
        }
        return LineReader.Line(number: line.number, bytes: rows.object(row) ?? bytes)
    }

    /// One JSON document over several lines, such as a pretty-printed array of webhooks; nil if
    /// the first line is a value by itself.
    private func document(
        startingWith line: LineReader.Line,
        _ reader: LineReader
    ) throws -> [UInt8]? {
        guard let bytes = line.bytes, ItemReader.json(bytes, as: options.format) == nil,
            let first = bytes.first(where: { $0 != 0x20 && $0 != 0x09 }),
            first == UInt8(ascii: "{") || first == UInt8(ascii: "["), bytes.count < 4096,
            let rest = try reader.peekRest(limit: Self.documentByteLimit)
        else { return nil }
        let whole = bytes + [0x0A] + rest
        guard ItemReader.json(whole, as: options.format) != nil else { return nil }
        reader.skipRest()
        return whole
    }

    /// Counts what became of items, and takes what is quarantined; false: it stopped at a refusal.
    private mutating func count(_ items: [ImportedItem]) -> Bool {
        var last: ImportedItem?
        for item in items {
            report.count(item)
            guard let bytes = item.bytes else { continue }
            // A text that gives several items is kept once, however many of them are refused.
            if item.line.line != last?.line.line || bytes != last?.bytes {
                refusedBytes.append(bytes)
            }
            last = item
        }
        return options.onError != .stop || report.refused == 0
    }
}

/// How far an import is.
public struct ImportProgress: Sendable {
    /// Items that were taken.
    public var items: UInt64
    /// Bytes that were read.
    public var bytes: UInt64
    /// Bytes of all files; nil where one of them has no end yet, such as standard input.
    public var totalBytes: UInt64?
}
