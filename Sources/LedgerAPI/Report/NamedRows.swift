/// Rows of a report under their name: mostly that of the member of the answer that holds them.
package struct NamedRows: Sendable {
    /// What the rows are, in a word.
    package let name: String
    /// What a row is, told also where there is none.
    package let row: any Described.Type
    /// The rows, in their order.
    package let rows: [any Described]

    /// Rows of one kind that there are at most: apps name products, platforms and error codes as they
    /// like.
    package static let limit = 10_000

    /// Names some rows.
    init<Row: Described>(_ name: String, _ rows: [Row]) {
        self.name = name
        row = Row.self
        self.rows = rows
    }
}
