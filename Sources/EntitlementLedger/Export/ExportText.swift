public import Encodings
import Entitlements

/// Writes the lines of a file of an export as text.
public struct ExportText: Sendable {
    private let file: ExportFile
    private var page: ExportPage?

    /// Begins a file; a database is written by others.
    public init(_ file: ExportFile, of export: LedgerExport) {
        self.file = file
        if file.form == .page { page = ExportPage(export) }
    }

    /// What stands before the lines.
    public var head: String {
        switch file.form {
        case .table(let table): CSV.line(table.columns.map { .string($0) })
        case .page: page?.head ?? ""
        case .lines, .database: ""
        }
    }

    /// A line of a part.
    public mutating func text(_ part: ExportPart, _ line: JSONValue) throws -> String {
        switch file.form {
        case .lines: line.description + "\n"
        case .table(let table): table.rows(of: line).map(CSV.line).joined()
        case .page: try page?.text(part, line) ?? ""
        case .database: ""
        }
    }

    /// What stands behind the lines.
    public var tail: String { page?.tail ?? "" }
}
