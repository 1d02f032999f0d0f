import Encodings
package import EntitlementLedger
import Entitlements
import LedgerAPI
import Synchronization

/// A ledger that is open here, as an import goes into it.
package final class ImportedLedger: ImportPlace {
    private let ledger: Ledger
    private let reader: ItemReader
    private let preservesRecordedTime: Bool
    private let onError: Importer.OnError
    private let isFromOutside: Bool
    /// The links of the batch that was begun last.
    private let begun = Mutex<BatchLinks?>(nil)

    /// `isFromOutside`: whether what only a ledger itself records is refused.
    package init(_ ledger: Ledger, _ options: Importer.Options, isFromOutside: Bool = false) {
        self.ledger = ledger
        self.isFromOutside = isFromOutside
        onError = options.onError
        reader = ItemReader(
            format: options.format,
            appStore: options.appStore,
            playStore: options.playStore,
            clock: options.clock
        )
        preservesRecordedTime = options.preservesRecordedTime
    }

    /// See `ImportPlace`.
    package func size() throws -> UInt64 { try ledger.questions.size() }

    /// Lines are prepared on another thread until their turn has come.
    package func begin(_ lines: ImportedLines) -> ImportTurn {
        let (reader, isFromOutside) = (reader, isFromOutside)
        let preparation = ItemPreparation(
            ledger: ledger,
            preservesRecordedTime: preservesRecordedTime,
            keepsBytes: onError == .quarantine
        )
        let batch = PreparedBatch {
            var prepared = PreparedItems()
            prepared.items.reserveCapacity(lines.lines.count)
            prepared.submissions.reserveCapacity(lines.lines.count)
            for item in try Self.items(of: lines, reader) {
                try preparation.add(isFromOutside ? item.fromOutside : item, to: &prepared)
            }
            return prepared
        }
        let links = preparation.links
        let earlier = begun.withLock { begun in
            defer { begun = links }
            return begun
        }
        return { [self] in
            var prepared = try batch.take()
            prepared.submissions = try ledger.appender.decided(
                prepared.submissions,
                with: links,
                behind: earlier
            )
            return try record(prepared)
        }
    }

    private static func items(
        of lines: ImportedLines,
        _ reader: ItemReader
    ) throws -> [ImportFormat.Item] {
        guard lines.isDocument, let line = lines.lines.first, let bytes = line.bytes,
            // What is none is refused as a line is.
            let json = ItemReader.json(bytes, as: reader.format)
        else { return reader.items(lines.lines) }
        return reader.items(json, bytes, line)
    }

    /// Records items in their order.
    private func record(_ prepared: PreparedItems) throws -> [ImportedItem] {
        var (items, submissions) = (prepared.items[...], prepared.submissions)
        // With `stop` nothing behind the first refused item is recorded.
        if onError == .stop, let refused = items.firstIndex(where: { $0.refusal != nil }) {
            items = items[...refused]
            // One for each item before it.
            submissions.removeLast(submissions.count - refused)
        }
        let receipts = try ledger.appender.record(submissions, untilRefused: onError == .stop)
        var imported: [ImportedItem] = []
        imported.reserveCapacity(items.count)
        var next = 0
        for item in items {
            if let refusal = item.refusal {
                imported.append(ImportedItem(item, refused: refusal))
                continue
            }
            guard next < receipts.count else { break }
            imported.append(try self.item(item, receipts[next], submissions[next]))
            next += 1
        }
        return imported
    }

    private func item(
        _ item: PreparedItem,
        _ receipt: Receipt,
        _ submission: DecidedSubmission
    ) throws -> ImportedItem {
        switch receipt {
        case .appended(let sequence, _): return ImportedItem(item, .appended, sequence)
        case .known: return ImportedItem(item, .known, nil)
        case .duplicate(let sequence):
            var known = ImportedItem(item, .duplicate, sequence)
            known.differs = try ledger.questions.tells(submission, otherThan: sequence)
            return known
        case .refused(let refusal):
            let refusal = ImportRefusal(refusal.code.rawValue, refusal.path, refusal.detail)
            return ImportedItem(item, refused: refusal)
        }
    }
}

extension ImportedItem {
    fileprivate init(
        _ item: PreparedItem,
        _ outcome: ImportedLine.Outcome,
        _ sequence: UInt64?
    ) {
        self.init(
            ImportedLine(line: item.line, outcome: outcome, sequence: sequence),
            format: item.format?.rawValue
        )
    }

    fileprivate init(_ item: PreparedItem, refused refusal: ImportRefusal) {
        self.init(item, .refused, nil)
        code = refusal.code
        path = refusal.path
        detail = refusal.detail
        bytes = item.bytes
    }
}
