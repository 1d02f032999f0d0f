import Foundation
import Testing

/// Rules and the code that keeps them: whoever reads an id finds its rule, and its proof.
struct `The rules` {
    /// What no test proves, since it is not built; it may only become less.
    private static let notBuilt: Set<String> = [
        // SDKs of others
        "Z18"
    ]

    /// What each file cites, by its path; read once.
    private static let cited = Result {
        (sources: try citations(House.files()), tests: try citations(House.tests()))
    }

    private static func citations(_ files: [House.File]) -> [String: RuleCitations] {
        Dictionary(uniqueKeysWithValues: files.map { ($0.path, RuleCitations(in: $0.lines)) })
    }

    private static func all() throws -> [String: RuleCitations] {
        let (sources, tests) = try cited.get()
        return sources.merging(tests) { one, _ in one }
    }

    @Test func `stand on a page wherever a comment cites them`() throws {
        let known = Set(try RulePages().ids)
        for (path, citations) in try Self.all() {
            #expect(citations.ids.subtracting(known) == [], "\(path): no page has these")
        }
    }

    @Test func `stand on one page, once each`() throws {
        let ids = try RulePages().ids
        #expect(ids.count > 150, "the pages are where they were")
        let repeated = Dictionary(grouping: ids) { $0 }.filter { $0.value.count > 1 }.keys
        #expect(repeated.sorted() == [])
    }

    @Test func `are proven by a test that cites them, or not built`() throws {
        let proven = Set(try Self.cited.get().tests.values.flatMap(\.ids))
        let pages = try RulePages()
        let unproven = Set(pages.ids).subtracting(proven)
        #expect(unproven.subtracting(Self.notBuilt).sorted() == [], "no test cites these")
        #expect(
            Self.notBuilt.subtracting(unproven).sorted() == [],
            "a test proves these, or no page has them: take them out of the list"
        )
        // A row says the same of itself.
        let rows = Self.notBuilt.filter { !$0.contains(" ") }
        #expect(pages.unkept.symmetricDifference(rows).sorted() == [], "Promises, third column")
    }

    @Test func `are cited by sections and files that there are`() throws {
        let sections = try RulePages().sections
        for (path, citations) in try Self.all() {
            #expect(citations.sections.subtracting(sections) == [], "\(path): no such section")
            #expect(citations.namelessRules == [], "\(path): say `Stores, rule N`")
            let absent = citations.files.filter { !House.exists($0) }
            #expect(absent == [], "\(path): the package has no such file")
        }
    }

    // Whoever reads `/// K7.` has read nothing.
    @Test func `are said in words where they are cited`() throws {
        for file in try House.files() + House.tests() {
            #expect(
                RuleCitations.bareIDs(in: file.lines, prefix: "///") == [],
                "\(file.path): say what it is, then cite the rule"
            )
        }
        for file in try House.files() {
            #expect(RuleCitations.bareIDs(in: file.lines, prefix: "//") == [], "\(file.path)")
        }
    }

    // An explanation names rules to its readers, who look them up.
    @Test func `stand on the page Model wherever an explanation names them`() throws {
        let cases = try House.files().first { $0.path == "Entitlements/Explain/Rule.swift" }?
            .lines.compactMap { $0.split(separator: "\"").dropFirst().first.map(String.init) }
            .filter { !$0.contains(" ") }
        let named = try #require(cases)
        let known = RulePages(try House.page("Model"), named: "Model").ids
        #expect(named.count > 20 && Set(named).subtracting(known).sorted() == [])
    }

    // MARK: Controls

    @Test(arguments: [
        (["/// The tier (K7)."], ["K7"]), (["// row 4.5; rows Z2, B6"], ["4.5", "B6", "Z2"]),
        (
            ["let x = 1  // Stores, rules 2,", "// 5 and 10: as said"],
            ["rule 10", "rule 2", "rule 5"]
        ),
        (["// trap 20 (whole ids)", "// Law 4"], ["law 4", "trap 20"]),
        (["let K7 = \"row 4.5\"", "// RFC 9162 2.1.3, C2SP, ES256"], []),
    ])
    func `are found where they are cited`(lines: [String], ids: [String]) {
        #expect(RuleCitations(in: lines).ids.sorted() == ids)
    }

    @Test func `are found where they stand`() {
        let pages = RulePages(
            [
                "## Time", "- **T1 Effective time** is", "text **K7** in the middle",
                "- **Rule 5. Nothing is dropped.** A", "| **4.5** | Trials | yes |",
                "| **Z9** | Machines | not yet |", "- **No id** here",
            ],
            named: "Model"
        )
        #expect(pages.ids == ["T1", "rule 5", "4.5", "Z9"] && pages.unkept == ["Z9"])
        #expect(pages.sections == ["Model, \"Time\""])
    }

    @Test func `are missed where a comment names what is not there`() {
        let citations = RuleCitations(in: [
            "/// As it says (Model, \"Tides\";", "/// gone.md, rule 5).",
        ])
        #expect(citations.sections == ["Model, \"Tides\""] && citations.files == ["gone.md"])
        #expect(citations.namelessRules.count == 1)
        #expect(!House.exists("gone.md") && House.exists("schemas/log-format.md"))
    }

    @Test(arguments: [
        ("///", ["/// K7.", "var tier: Int", "/// 1 to 12.", "var month: Int"], [1]),
        ("///", ["    /// Rows 4.5 and", "    /// Z2", "f()", "/// K7, the tier."], [1]),
        ("//", ["/// K7.", "let x = 1", "// Stores, rule 5", "g()"], [3]),
    ])
    func `are found where they say nothing`(prefix: String, lines: [String], found: [Int]) {
        #expect(RuleCitations.bareIDs(in: lines, prefix: prefix) == found)
    }
}
