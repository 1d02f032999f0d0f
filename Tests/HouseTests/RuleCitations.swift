import Foundation

/// What comments cite: rules by their ids, sections of pages, files.
struct RuleCitations: Sendable {
    /// Ids, such as `K7`, `4.5`, `rule 5` and `trap 8`.
    private(set) var ids: Set<String> = []
    /// Sections, such as `Model, "Events"`.
    private(set) var sections: Set<String> = []
    /// Paths of pages below the package, such as `schemas/log-format.md`.
    private(set) var files: Set<String> = []
    /// Rules of stores that do not say whose they are.
    private(set) var namelessRules: Set<String> = []

    /// Reads the comments of a file.
    init(in lines: [String]) {
        let text = Self.comments(of: lines)
        ids = Set(Self.matches(Self.id, in: text))
        for list in Self.matches(Self.list, in: text) {
            let words = list.split { " ,–".contains($0) }
            let kind = words[0].lowercased().trimmingSuffix("s")
            for word in words.dropFirst() where word.contains(where: \.isNumber) {
                // Rows are named by their ids alone, rules and the like by word and number.
                if kind == "row" {
                    ids.insert(String(word))
                } else if word.allSatisfy(\.isNumber) {
                    ids.insert("\(kind) \(word)")
                }
            }
        }
        sections = Set(Self.matches(Self.section, in: text))
        files = Set(Self.matches(Self.file, in: text))
        namelessRules = Set(Self.matches(Self.namelessRule, in: text))
    }

    /// The numbers of lines where a comment begins that is an id and nothing else.
    ///
    /// `prefix`: what such a comment's lines begin with, `///` or `//`.
    static func bareIDs(in lines: [String], prefix: String) -> [Int] {
        var found: [Int] = []
        var body = ""
        var start = 0
        for (index, line) in (lines + [""]).enumerated() {
            let code = line.drop { $0 == " " }
            if code.hasPrefix(prefix), prefix == "///" || !code.hasPrefix("///") {
                if body.isEmpty { start = index + 1 }
                body += (body.isEmpty ? "" : " ")
                body += code.dropFirst(prefix.count).drop { $0 == " " }
            } else {
                if !matches(bare, in: body).isEmpty { found.append(start) }
                body = ""
            }
        }
        return found
    }

    // MARK: Patterns

    private static let row = #"(?:[A-Z]{1,2}\d{1,2}|\d{1,2}\.\d)"#
    private static let word = #"(?:Stores, )?(?:rows?|rules?|traps?|laws?) "#
    private static let id = pattern(#"\b(?:T|E|P|C|K|Z|B|ES|CL|PL)\d{1,2}\b"#)
    private static let list = pattern(
        #"(?i)\b(?:rows?|rules?|traps?|laws?) (?:\#(row)|\d{1,2})\b"#
            + #"(?:(?:, and|,| and| to| or|–) ?(?:\#(row)|\d{1,2})\b)*"#
    )
    private static let bare = pattern(
        "(?i)^(?:\(word))?(?:\(row)|(?<=[a-z] )\\d{1,2})"
            + "(?:(?:[,;]| and|, and| to)? ?(?:\(word))?(?:\(row)|(?<=[a-z] )\\d{1,2}))*\\.?$"
    )
    private static let section = pattern(#"\b(?:\#(RulePages.names)), "[^"]+""#)
    private static let file = pattern(#"[A-Za-z0-9_./-]+\.md\b"#)
    private static let namelessRule = pattern(#"(?<!Stores, )\b[Rr]ules? \d.{0,30}"#)

    private static func pattern(_ text: String) -> NSRegularExpression? {
        try? NSRegularExpression(pattern: text)
    }

    private static func matches(_ pattern: NSRegularExpression?, in text: String) -> [String] {
        guard let pattern else { preconditionFailure("a pattern of this file is wrong") }
        let all = NSRange(text.startIndex..., in: text)
        return pattern.matches(in: text, range: all).compactMap {
            Range($0.range, in: text).map { String(text[$0]) }
        }
    }

    /// All comments in one line; what is not one parts them.
    private static func comments(of lines: [String]) -> String {
        lines.map { line -> String in
            guard let slashes = line.range(of: "//") else { return "¶" }
            return String(line[slashes.upperBound...].drop { $0 == "/" || $0 == " " })
        }
        .joined(separator: " ")
    }
}

extension StringProtocol {
    fileprivate func trimmingSuffix(_ suffix: String) -> String {
        hasSuffix(suffix) ? String(dropLast(suffix.count)) : String(self)
    }
}

/// The pages on which rules stand.
struct RulePages {
    /// Ids in the order of the pages.
    private(set) var ids: [String] = []
    /// Rows of promises that say of themselves that nothing keeps them yet.
    private(set) var unkept: Set<String> = []
    /// Sections, such as `Model, "Events"`.
    private(set) var sections: Set<String> = []

    private static let pages = [
        "Architecture", "Glossary", "Interfaces", "Model", "Promises", "Security", "Storage",
        "Stores",
    ]
    /// The pages' names as an alternative of a pattern.
    static let names = pages.joined(separator: "|")

    /// Reads the pages of the package.
    init() throws {
        for page in Self.pages { read(try House.page(page), page) }
    }

    /// Reads one page.
    init(_ lines: [String], named page: String) { read(lines, page) }

    /// An id stands in bold where its rule begins: at the start of a line, of a list's or table's
    /// first place.
    private mutating func read(_ lines: [String], _ page: String) {
        for line in lines {
            if line.hasPrefix("## ") { sections.insert("\(page), \"\(line.dropFirst(3))\"") }
            let start = line.drop { " -|".contains($0) }
            guard start.hasPrefix("**") else { continue }
            let words = start.dropFirst(2).split { " .*".contains($0) }
            let title = start.dropFirst(2).prefix { $0 != "*" }
            guard let first = words.first else { continue }
            let isNumbered = ["Rule", "Trap", "Law"].contains(first) && words.count > 1
            let id =
                if isNumbered { "\(first.lowercased()) \(words[1])" } else {
                    String(title.prefix { $0 != " " })
                }
            guard isNumbered || Self.isID(id) else { continue }
            ids.append(id)
            if line.hasSuffix("| not yet |") { unkept.insert(id) }
        }
    }

    /// `K10` or `4.5`.
    private static func isID(_ word: String) -> Bool {
        let letters = word.prefix { $0.isUppercase }
        let rest = word.dropFirst(letters.count)
        guard rest.first?.isNumber == true, rest.allSatisfy({ $0.isNumber || $0 == "." }) else {
            return false
        }
        return letters.isEmpty ? rest.contains(".") : !rest.contains(".")
    }
}
