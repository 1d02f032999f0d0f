import Entitlements
package import LedgerAPI

extension ReportAnswer {
    /// The report for people: its tables, with whole units of currencies.
    package var textLines: [String] {
        let known = CellText.known(at: question.known)
        var lines = [
            "\(Self.kind.rawValue) at \(question.at)\(known)"
                + " (\(question.environment.name), sequence \(question.sequence))"
        ]
        for rows in tables {
            let table = ReportTable(rows).inUnits
            lines +=
                table.rows.isEmpty
                ? ["\(table.name): none"]
                : TextTable.lines(
                    table.name,
                    [table.columns] + table.rows.map { $0.map { CellText.text($0) } }
                )
        }
        if omitted > 0 { lines.append("  … and \(omitted) more") }
        if let alerts { lines.append("alerts: \(alerts)") }
        return lines
    }
}
