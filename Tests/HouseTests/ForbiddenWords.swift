import Foundation

/// Words that the glossary has another one for, in names and comments.
///
/// What stands in quotes is not looked at: there a word belongs to a format or to an answer.
enum ForbiddenWords {
    /// Each word, as a name's part or alone, with what to say instead.
    private static let words: [String: String] = [
        "blob": "evidence, or attachment", "blobs": "evidence, or attachments",
        "carrier": "the record that it is attached to",
        "carriers": "the records that they are attached to",
        "companion": "evidence, or attachment", "companions": "evidence, or attachments",
        "shelf": "cache", "shelves": "caches", "world": "environment", "worlds": "environments",
    ]
    /// Words of tests alone: a test has worlds of its own.
    private static let onlyInSources: Set<String> = ["world", "worlds"]

    /// SQL calls a column's bytes so.
    static func speaksSQL(_ path: String) -> Bool {
        path.hasPrefix("SQLite/") || path == "LedgerOperations/Export/ExportDatabase.swift"
    }

    /// The numbers of lines with such a word, and what to say instead.
    static func found(in lines: [String], isTest: Bool = false) -> [Int: String] {
        var found: [Int: String] = [:]
        for (index, line) in lines.enumerated() {
            for word in parts(of: line) where !(isTest && onlyInSources.contains(word)) {
                if let instead = words[word] { found[index + 1] = "say \(instead)" }
            }
        }
        return found
    }

    /// The words of a line, those that a name is made of each for itself.
    private static func parts(of line: String) -> [String] {
        let outside = line.replacing(#/"(?:[^"\\]|\\.)*"|`[^`]*`/#, with: " ")
        return outside.matches(of: #/[A-Z]?[a-z]+|[A-Z]+(?![a-z])/#).map { $0.output.lowercased() }
    }
}
