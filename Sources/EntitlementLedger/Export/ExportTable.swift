package import Encodings
import Entitlements

/// A flat table of an export: for spreadsheets and databases.
public struct ExportTable: Sendable, Hashable {
    /// Its name.
    public var name: String
    /// What it is made of.
    public var part: ExportPart
    /// The names of its columns.
    public var columns: [String]
    /// How rows are found in a line.
    private var layout: Layout

    private enum Layout: Sendable, Hashable {
        /// The line is a row.
        case line
        /// Each element of a member.
        case elements(of: String)
        /// Each member of a member, its name as the first column.
        case members(of: String)
    }

    private init(
        _ name: String,
        _ part: ExportPart,
        _ columns: [String],
        _ layout: Layout = .line
    ) {
        self.name = name
        self.part = part
        self.columns = columns
        self.layout = layout
    }

    /// The rows of a line: a cell for each column; what is not flat is JSON text.
    package func rows(of line: JSONValue) -> [[JSONValue]] {
        switch layout {
        case .line: [row(line)]
        case .elements(let member): (line[member]?.array ?? []).map { row($0) }
        case .members(let member):
            (line[member]?.members ?? []).map { [.string($0.name)] + row($0.value).dropFirst() }
        }
    }

    private func row(_ value: JSONValue) -> [JSONValue] {
        columns.map { name in
            switch value[name] ?? .null {
            case let cell where cell.array != nil || cell.members != nil:
                .string(cell.description)
            case let cell: cell
            }
        }
    }

    /// All tables.
    static let all = [
        ExportTable("names", .identity, ["name", "stream"], .elements(of: "names")),
        ExportTable("purchases", .identity, ["name", "stream"], .elements(of: "purchases")),
        ExportTable(
            "features",
            .state,
            ["feature", "allowed", "until", "reason", "sources", "limit"],
            .members(of: "features")
        ),
        ExportTable(
            "stretches",
            .timeline,
            ["source", "productId", "from", "to"],
            .elements(of: "stretches")
        ),
        ExportTable(
            "explanations",
            .explanations,
            ["feature", "allowed", "until", "reason", "summary", "steps"]
        ),
        ExportTable("errors", .errors, eventColumns),
        ExportTable("events", .events, eventColumns),
        ExportTable("evidence", .evidence, ["sequence", "digest", "content"]),
        ExportTable("proofs", .proofs, ["sequence", "record", "proof"]),
    ]

    private static let eventColumns = [
        "sequence", "recordedtime", "time", "type", "subject", "source", "id", "environment",
        "data",
    ]
}
