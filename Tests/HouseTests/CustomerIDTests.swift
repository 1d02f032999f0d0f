import Testing

/// Whoever takes a customer takes an id that was checked, which compares by its bytes
/// (Architecture, "Rules of the house").
struct `A customer` {
    /// Where a customer is a text, by the beginning of the path and of what is declared.
    private static let edges: [(path: String, declaration: String, reason: String)] = [
        ("LedgerAPI/", "", "for people, and masked where it must be"),
        ("entitle/Commands/", "var customer", "as it was typed, until `CustomerArgument`"),
    ]

    /// The numbers of the lines that declare a customer as a text.
    private static func texts(_ file: House.File) -> [Int] {
        file.lines.indices.filter { index in
            let line = file.lines[index]
            guard line.contains(#/\bcustomers?( [a-z]+)?: (\[?String\b)/#) else { return false }
            return !edges.contains { edge in
                file.path.hasPrefix(edge.path)
                    && (edge.declaration.isEmpty || line.contains(edge.declaration + ": String"))
            }
        }.map { $0 + 1 }
    }

    @Test func `is an id wherever it is no text for people`() throws {
        for file in try House.files() { #expect(Self.texts(file) == [], "\(file.path)") }
        let lines = [
            "let customer: String", "func erase(_ customers: [String])", "var customer: CustomerID",
            "asked customer: String? = nil", "@Argument var customer: String",
        ]
        #expect(Self.texts(House.File(path: "planted", lines: lines)) == [1, 2, 4, 5])
        let command = House.File(path: "entitle/Commands/Ask/Planted.swift", lines: lines)
        #expect(Self.texts(command) == [1, 2, 4])
    }

    // An edge that nothing needs any more is no edge.
    @Test func `is a text only where an edge needs it`() throws {
        let files = try House.files()
        for edge in Self.edges {
            let isNeeded = files.contains { file in
                file.path.hasPrefix(edge.path)
                    && file.lines.contains { $0.contains("customer: String") }
            }
            #expect(isNeeded, "\(edge.path): \(edge.reason)")
        }
    }
}
