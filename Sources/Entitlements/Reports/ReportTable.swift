public import Encodings

/// A table of a report: flat rows, the same as JSON, as CSV and for people.
public struct ReportTable: Sendable, Hashable {
    /// The member of the JSON answer that holds it.
    public var name: String
    /// The members of each row, in their order.
    public var columns: [String]
    /// A cell for each column.
    public private(set) var rows: [[JSONValue]]
    /// Rows beyond the limit, left out.
    public private(set) var omitted: Int

    /// Rows that a table has at most: apps name products, platforms and error codes as they like.
    public static let rowLimit = 10_000

    /// Makes a table of rows in their order; those beyond the limit are left out.
    public init(_ name: String, _ columns: [String], _ rows: [[JSONValue]]) {
        self.name = name
        self.columns = columns
        self.rows = Array(rows.prefix(Self.rowLimit))
        omitted = max(0, rows.count - Self.rowLimit)
    }

    /// An array of objects.
    public var json: JSONValue {
        .array(
            rows.map { row in .object(zip(columns, row).map { JSONMember($0, $1) }) }
        )
    }

    /// Comma-separated values with a heading (RFC 4180).
    public var csv: String {
        ([columns.map { .string($0) }] + rows).map(CSV.line).joined()
    }
}

/// The reports that there are (rows 10.1 to 10.6, B7).
public enum ReportKind: String, CaseIterable, Sendable {
    case customers, revenue, refunds, funnel, stages, errors, experiments
}

/// A report, made: what it says of itself, its tables, and how many of their rows raise an alert.
public struct ReportAnswer: Sendable, Hashable {
    /// Which report.
    public var kind: ReportKind
    /// Members before the tables.
    public var members: [JSONMember]
    /// Its tables.
    public var tables: [ReportTable]
    /// Stages over their threshold and errors far above their recent past; nil: it raises none.
    public var alerts: Int?

    /// Makes an answer.
    public init(_ kind: ReportKind, tables: [ReportTable], alerts: Int? = nil) {
        self.kind = kind
        members = []
        self.tables = tables
        self.alerts = alerts
    }

    /// The shape that `report --json` prints: keys are always present.
    public var json: JSONValue {
        .object(
            [JSONMember("report", .string(kind.rawValue))] + members
                + (alerts.map { [JSONMember("alerts", .integer($0))] } ?? [])
                + tables.map { JSONMember($0.name, $0.json) }
                + [JSONMember("omitted", .integer(tables.reduce(0) { $0 + $1.omitted }))]
        )
    }
}

extension JSONValue {
    /// A number with at most six decimals; null where there is none.
    static func decimal(_ value: Double?) -> JSONValue {
        guard let value, value.isFinite, value.magnitude < decimalLimit else { return .null }
        let micros = Int64((value * 1_000_000).rounded())
        let (whole, rest) = micros.magnitude.quotientAndRemainder(dividingBy: 1_000_000)
        let digits = String(rest)
        var text = (micros < 0 ? "-" : "") + String(whole) + "."
        text += String(repeating: "0", count: 6 - digits.utf8.count) + digits
        while text.last == "0" { text.removeLast() }
        if text.last == "." { text.removeLast() }
        return .number(text)
    }

    /// Numbers from here on are not shown: a micro of them fits in 64 bits no more.
    private static let decimalLimit = 1_000_000_000_000.0

    /// A part of a whole, exact to six decimals; null of nothing.
    static func share(_ part: Int, of whole: Int) -> JSONValue {
        .decimal(whole == 0 ? nil : Double(part) / Double(whole))
    }
}
