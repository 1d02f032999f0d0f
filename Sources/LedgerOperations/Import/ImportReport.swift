import EntitlementLedger
package import LedgerAPI

/// What an import did so far.
public struct ImportReport: Sendable {
    /// Items whose events were appended.
    public private(set) var appended = 0
    /// Items that were known.
    public private(set) var duplicate = 0
    /// Items that were refused.
    public private(set) var refused = 0
    /// The first refusals by files and their lines; all are counted.
    public private(set) var refusals: [(file: String, line: Int, refusal: ImportRefusal)] = []
    /// Known signals that say something else now than what was recorded, which stands (E1).
    public private(set) var differing = 0
    /// The first of them, with the event that was recorded.
    public private(set) var differences: [(file: String, line: Int, sequence: UInt64)] = []
    /// The file whose lines are counted; `-` for standard input.
    var file = ""
    private var itemsByFormat: [String: Int] = [:]
    private var refusedByCode: [String: Int] = [:]

    /// Refusals that are listed one by one, and repeats that differ.
    private static let refusalLimit = 10_000

    /// Items of any outcome.
    public var items: UInt64 { UInt64(appended + duplicate + refused) }

    /// Refusals by reason, all of them.
    public var reasons: [(code: String, count: Int)] {
        refusedByCode.map { (code: $0.key, count: $0.value) }.sorted { $0.code < $1.code }
    }

    /// What items were taken for, and how many for each; what could not be told is left out.
    public var formats: [(format: ImportFormat, count: Int)] {
        ImportFormat.allCases.compactMap { format in
            itemsByFormat[format.rawValue].map { (format: format, count: $0) }
        }
    }

    /// What it did.
    ///
    /// `sequence`: events of the log afterwards.
    package func answer(sequence: UInt64) -> ImportAnswer {
        ImportAnswer(
            appended: appended,
            duplicate: duplicate,
            refused: refused,
            sequence: sequence,
            formats: formats.map {
                ImportAnswer.Taken(format: $0.format.rawValue, items: $0.count)
            },
            differing: differing,
            differences: differences.map {
                ImportAnswer.Differing(file: Self.named($0), line: $1, sequence: $2)
            },
            refusals: refusals.map { file, line, refusal in
                ImportAnswer.Refusal(
                    file: Self.named(file),
                    line: line,
                    code: refusal.code,
                    path: refusal.path,
                    detail: refusal.detail
                )
            }
        )
    }

    /// A file's name; nil: standard input and the quarantine have none.
    private static func named(_ file: String) -> String? {
        file.isEmpty || file == "-" ? nil : file
    }

    /// Counts what became of an item.
    mutating func count(_ item: ImportedItem) {
        if let format = item.format { itemsByFormat[format, default: 0] += 1 }
        switch item.line.outcome {
        case .appended: appended += 1
        case .duplicate, .known: duplicate += 1
        case .refused: refuse(item)
        }
        guard item.differs, let sequence = item.line.sequence else { return }
        differing += 1
        if differences.count < Self.refusalLimit {
            differences.append((file, item.line.line, sequence))
        }
    }

    private mutating func refuse(_ item: ImportedItem) {
        let code = item.code ?? ""
        refused += 1
        refusedByCode[code, default: 0] += 1
        guard refusals.count < Self.refusalLimit else { return }
        let refusal = ImportRefusal(code, item.path ?? "", item.detail ?? "")
        refusals.append((file, item.line.line, refusal))
    }
}
