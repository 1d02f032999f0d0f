import Encodings
package import EntitlementLedger
import Entitlements
import LedgerAPI
import Presentation

/// Writes the lines of a file of an export as text.
package struct ExportText: Sendable {
    private let file: ExportFile
    private var page: ExportPage?

    /// Begins a file; a database is written by others.
    package init(_ file: ExportFile, of export: LedgerExport) {
        self.file = file
        if file.form == .page { page = ExportPage(ExportPage.Heading(export)) }
    }

    /// What stands before the lines.
    package var head: String {
        switch file.form {
        case .table(let table): CSV.line(table.columns.map { .string($0) })
        case .page: page?.head ?? ""
        case .lines, .database: ""
        }
    }

    /// A line of a part.
    package mutating func text(_ part: ExportPart, _ line: ExportLine) -> String {
        switch file.form {
        case .lines: line.text + "\n"
        case .table(let table): table.rows(of: line).map(CSV.line).joined()
        case .page: line.content(in: part).flatMap { page?.text($0) } ?? ""
        case .database: ""
        }
    }

    /// What stands behind the lines.
    package var tail: String { page?.tail ?? "" }
}

extension ExportPage.Heading {
    fileprivate init(_ export: LedgerExport) {
        let plan = export.plan
        self.init(
            origin: export.origin,
            madeAt: plan.madeAt,
            at: plan.at,
            known: plan.known,
            size: plan.size,
            environment: plan.customer?.environment,
            records: export.recordCount,
            redaction: plan.redaction,
            checkpoint: plan.checkpoint
        )
    }
}

extension ExportLine {
    /// What a page shows of it; nil: nothing.
    fileprivate func content(in part: ExportPart) -> ExportPage.Content? {
        switch self {
        case .identity(let line): .identity(line)
        case .state(let line): .state(line)
        case .timeline(let line): .timeline(line)
        case .explanation(let line): .explanation(line)
        case .event(let event): part == .errors ? .error(event.row) : .event(event.row)
        case .evidence(let line): .evidence(line)
        case .proof, .range: nil
        }
    }
}
