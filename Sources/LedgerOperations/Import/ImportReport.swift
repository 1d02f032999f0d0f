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
    /// The file whose lines are counted; `-` for standard input.
    var file = ""
    private var refusedByCode: [String: Int] = [:]

    /// Refusals that are listed one by one.
    private static let refusalLimit = 10_000

    /// Items of any outcome.
    public var items: UInt64 { UInt64(appended + duplicate + refused) }

    /// Refusals by reason, all of them.
    public var reasons: [(code: String, count: Int)] {
        refusedByCode.map { (code: $0.key, count: $0.value) }.sorted { $0.code < $1.code }
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
            refusals: refusals.map { _, line, refusal in
                ImportAnswer.Refusal(
                    line: line,
                    code: refusal.code,
                    path: refusal.path,
                    detail: refusal.detail
                )
            }
        )
    }

    mutating func refuse(_ line: Int, _ refusal: ImportRefusal) {
        refused += 1
        refusedByCode[refusal.code, default: 0] += 1
        if refusals.count < Self.refusalLimit { refusals.append((file, line, refusal)) }
    }

    mutating func count(_ line: Int, _ receipt: Receipt) {
        switch receipt {
        case .appended: appended += 1
        case .duplicate, .known: duplicate += 1
        case .refused(let refusal):
            refuse(line, ImportRefusal(refusal.code.rawValue, refusal.path, refusal.detail))
        }
    }
}
