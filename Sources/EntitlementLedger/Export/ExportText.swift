import Encodings
import Entitlements

/// Writes the lines of a file of an export as text.
package struct ExportText: Sendable {
    private let file: ExportFile
    private var page: ExportPage?

    /// Begins a file; a database is written by others.
    package init(_ file: ExportFile, of export: LedgerExport) {
        self.file = file
        if file.form == .page { page = ExportPage(export) }
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
        case .page: page?.text(part, line) ?? ""
        case .database: ""
        }
    }

    /// What stands behind the lines.
    package var tail: String { page?.tail ?? "" }
}
