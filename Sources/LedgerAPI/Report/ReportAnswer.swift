import Encodings
public import Entitlements

/// What all reports have.
package protocol ReportAnswer: Described {
    /// Which report.
    static var kind: ReportKind { get }
    /// What was asked.
    var question: ReportEcho { get }
    /// Rows that raise an alert; nil: the report raises none.
    var alerts: Int? { get }
    /// Its rows.
    var tables: [NamedRows] { get }
    /// Rows beyond the limit of a table, left out.
    var omitted: Int { get }
}

/// What a report says of its question.
public struct ReportEcho: Described {
    /// The environment that was asked about.
    public var environment: StoreEnvironment
    /// T.
    public var at: Instant
    /// R; nil: everything known, or a prefix by its size.
    public var known: Instant?
    /// Size of the prefix that the report was made from.
    public var sequence: UInt64
    /// What came to pass at or after it counts; nil: since ever.
    public var from: Instant?
    /// What came to pass before it counts; nil: up to T.
    public var to: Instant?

    /// Makes an echo.
    package init(
        environment: StoreEnvironment,
        at: Instant,
        known: Instant?,
        sequence: UInt64,
        from: Instant?,
        to: Instant?
    ) {
        self.environment = environment
        self.at = at
        self.known = known
        self.sequence = sequence
        self.from = from
        self.to = to
    }

    /// Its members, in the order in which they are written.
    package static let fields = Fields("ReportEcho", "What was asked", Self.init) {
        Field("environment", \.environment, .environment)
        Field("at", \.at, .instant).echoed
        Field("known", \.known, .orNull(.instant))
        Field(
            "sequence",
            \.sequence,
            .count,
            "Size of the prefix that the answer was made from"
        ).echoed
        Field("from", \.from, .orNull(.instant))
        Field("to", \.to, .orNull(.instant))
    }
}

/// A row of a report that has one table.
package protocol ReportRow: Described {
    /// The report whose row this is.
    static var kind: ReportKind { get }
    /// The sums of rows, as far as they can be added: a row for each currency.
    static func totals(of rows: [Self]) -> [Self]
}

extension ReportRow {
    /// None: there is nothing to add.
    package static func totals(of rows: [Self]) -> [Self] { [] }
}

/// A report of one table.
public struct RowsAnswer<Row: JSONWritable>: Hashable, Sendable {
    /// What was asked.
    public var question: ReportEcho
    /// The first rows, in their order.
    public var rows: [Row]
    /// Rows beyond the limit, left out.
    public var omitted: Int
    /// The sums of all rows, those left out too; no member of its JSON.
    public fileprivate(set) var totals: [Row] = []
}

extension RowsAnswer: JSONWritable, Described, ReportAnswer where Row: ReportRow {
    /// Which report.
    package static var kind: ReportKind { Row.kind }
    /// It raises none.
    package var alerts: Int? { nil }

    /// Its rows, and their sums where there are some.
    package var tables: [NamedRows] {
        [NamedRows("rows", rows)]
            + (totals.isEmpty ? [] : [NamedRows("totals", totals)])
    }

    /// Its members, in the order in which they are written.
    package static var fields: Fields<Self> {
        Fields(
            kind.component,
            Row.fields.title,
            { _, question, rows, omitted in
                // The sums of rows that are left out are not read again.
                let totals = omitted == 0 ? Row.totals(of: rows) : []
                return Self(question: question, rows: rows, omitted: omitted, totals: totals)
            }
        ) {
            kindField
            Field(inline: \.question)
            Field("rows", \.rows, .list(.object))
            omittedField
        }
    }
}

extension RowsAnswer where Row: ReportRow {
    /// Makes a report of rows in their order; those beyond the limit are left out.
    package init(_ question: ReportEcho, _ rows: [Row]) {
        self.init(
            question: question,
            rows: Array(rows.prefix(NamedRows.limit)),
            omitted: max(0, rows.count - NamedRows.limit),
            totals: Row.totals(of: rows)
        )
    }
}

/// A report of one table whose rows may raise alerts (rows 10.4, 10.5).
public struct AlertRowsAnswer<Row: JSONWritable>: Hashable, Sendable {
    /// What was asked.
    public var question: ReportEcho
    /// Rows that raise one, those that are left out too.
    public var raised: Int
    /// The first rows, in their order.
    public var rows: [Row]
    /// Rows beyond the limit, left out.
    public var omitted: Int
}

extension AlertRowsAnswer: JSONWritable, Described, ReportAnswer
where Row: ReportRow & Alarming {
    /// Which report.
    package static var kind: ReportKind { Row.kind }
    /// Rows that raise one.
    package var alerts: Int? { raised }
    /// Its table.
    package var tables: [NamedRows] { [NamedRows("rows", rows)] }

    /// Its members, in the order in which they are written.
    package static var fields: Fields<Self> {
        Fields(
            kind.component,
            Row.fields.title,
            { _, question, raised, rows, omitted in
                Self(question: question, raised: raised, rows: rows, omitted: omitted)
            }
        ) {
            kindField
            Field(inline: \.question)
            Field("alerts", \.raised, .count, "Rows that raise an alert")
            Field("rows", \.rows, .list(.object))
            omittedField
        }
    }
}

extension AlertRowsAnswer where Row: ReportRow & Alarming {
    /// Makes a report of rows in their order; those beyond the limit are left out, and counted.
    package init(_ question: ReportEcho, _ rows: [Row]) {
        self.init(
            question: question,
            raised: rows.count(where: \.isAlarming),
            rows: Array(rows.prefix(NamedRows.limit)),
            omitted: max(0, rows.count - NamedRows.limit)
        )
    }
}

/// What may raise an alert.
package protocol Alarming {
    /// Whether it does.
    var isAlarming: Bool { get }
}

extension ReportAnswer {
    /// The member that names the report.
    static var kindField: Field<Self, String> {
        Field("report", { _ in kind.rawValue }, .words([kind.rawValue]))
    }

    /// The last member.
    static var omittedField: Field<Self, Int> {
        Field("omitted", \.omitted, .count, "Rows beyond the limit of a table, left out")
    }
}

extension ReportKind {
    /// The name of its component: `RevenueReport`, say.
    var component: String { rawValue.prefix(1).uppercased() + rawValue.dropFirst() + "Report" }
}

extension Form<Double?> {
    /// A number with at most six decimals; null where there is none, or none that fits.
    static var decimal: Self {
        Form(
            .optional(.number),
            write: { value, text in text.value(.decimal(value)) },
            reading: { json in
                switch json {
                case .null: return nil
                case .number(let digits):
                    if let value = Double(digits) { return value }
                default: break
                }
                throw InputFault(.malformed, "", "a number")
            }
        )
    }
}

extension JSONValue {
    /// A number with at most six decimals; null where there is none.
    static func decimal(_ value: Double?) -> JSONValue {
        guard let value, value.isFinite, value.magnitude < decimalLimit else { return .null }
        // Fits: the limit leaves room for six decimals.
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
}
