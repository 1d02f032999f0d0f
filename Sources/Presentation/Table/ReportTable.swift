package import Encodings
import Entitlements
public import LedgerAPI

/// A table of a report as people see it; its columns are the members of its rows.
package struct ReportTable: Sendable {
    /// What its rows are, in a word.
    package let name: String
    /// The names of the columns.
    package let columns: [String]
    /// A cell for each column.
    package let rows: [[JSONValue]]

    /// What the name of a column of millionths of a currency's unit ends with.
    private static let money = "Micros"

    private init(_ name: String, _ columns: [String], _ rows: [[JSONValue]]) {
        self.name = name
        self.columns = columns
        self.rows = rows
    }

    /// The table of some rows.
    package init(_ rows: NamedRows) {
        self.init(rows.name, rows.row.columns, rows.rows.map { $0.cells })
    }

    /// The table with whole units in place of millionths.
    package var inUnits: ReportTable {
        ReportTable(
            name,
            columns.map { Self.unit(of: $0) ?? $0 },
            rows.map { row in
                zip(columns, row).map { Self.unit(of: $0) == nil ? $1 : Self.units(of: $1) }
            }
        )
    }

    /// The table with whole units beside millionths.
    fileprivate var withUnits: ReportTable {
        ReportTable(
            name,
            columns.flatMap { [$0] + (Self.unit(of: $0).map { [$0] } ?? []) },
            rows.map { row in
                zip(columns, row).flatMap {
                    [$1] + (Self.unit(of: $0) == nil ? [] : [Self.units(of: $1)])
                }
            }
        )
    }

    /// The column of whole units beside one of millionths; nil for another column.
    private static func unit(of column: String) -> String? {
        column.hasSuffix(money) ? String(column.dropLast(money.count)) : nil
    }

    private static func units(of micros: JSONValue) -> JSONValue {
        guard case .number(let digits) = micros else { return micros }
        return .number(Decimals.units(ofMicros: digits))
    }
}

extension Report {
    /// The report as one table of comma-separated values with a heading (RFC 4180), for spreadsheets.
    ///
    /// The first column says which table a row is of; one that a table does not have is empty in its
    /// rows. Beside millionths stand whole units.
    public var csv: String { answer.csv }
}

extension ReportAnswer {
    /// The report for spreadsheets.
    package var csv: String {
        let tables = tables.map { ReportTable($0).withUnits }
        var columns: [Name] = []
        for name in tables.flatMap(\.columns).map({ Name($0) }) where !columns.contains(name) {
            columns.append(name)
        }
        let rows = tables.flatMap { table in
            let places = columns.map { table.columns.map { Name($0) }.firstIndex(of: $0) }
            return table.rows.map { row in
                [JSONValue.string(table.name)]
                    + places.map { place in place.map { row[$0] } ?? .null }
            }
        }
        let heading = [JSONValue.string("table")] + columns.map { JSONValue.string($0.text) }
        return ([heading] + rows).map(CSV.line).joined()
    }
}
