/// Rows of text in columns, each as wide as its longest cell.
package enum TextTable {
    /// A line for each row, with two spaces between columns and none at the end.
    ///
    /// `numbers`: the columns whose cells end one below the other; those of others begin so.
    package static func lines(
        _ rows: [[String]],
        numbers: Set<Int> = [],
        indent: String = ""
    ) -> [String] {
        let columns = 0..<(rows.map(\.count).max() ?? 0)
        let widths = columns.map { column in
            rows.map { column < $0.count ? $0[column].count : 0 }.max() ?? 0
        }
        return rows.map { row in
            let cells = row.enumerated().map { column, cell in
                cell.padded(to: widths[column], before: numbers.contains(column))
            }
            var line = indent + cells.joined(separator: "  ")
            while line.last == " " { line.removeLast() }
            return line
        }
    }

    /// The lines of rows under a heading; none where there are no rows.
    package static func lines(_ heading: String, _ rows: [[String]]) -> [String] {
        rows.isEmpty ? [] : [heading] + lines(rows, indent: "  ")
    }
}

extension String {
    /// The text with spaces behind it, or before it, up to a width that it does not exceed.
    func padded(to width: Int, before: Bool = false) -> String {
        let space = String(repeating: " ", count: width - count)
        return before ? space + self : self + space
    }
}
