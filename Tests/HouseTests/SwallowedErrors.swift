import Foundation

/// Finds each `try?` that does not say why its error does not matter.
///
/// A plain comment says so, on its line or right above the statement that it stands in. None is
/// needed of those that `needsNoReason` and `isThrownOn` list.
enum SwallowedErrors {
    /// The numbers of lines that say nothing.
    static func unexplained(in lines: [String]) -> [Int] {
        lines.indices.filter { index in
            let calls = calls(of: lines[index])
            return !calls.isEmpty && !calls.allSatisfy(needsNoReason)
                && !closes(lines[index]) && !isExplained(lines, index)
        }
        .map { $0 + 1 }
    }

    /// What throws nothing but that bytes at hand are none of its kind, which nil says as well.
    private static let readers = [
        "JSONValue(parsing:", "JSONValue(parsingStoreText:", "RecordHeader(checking:",
        "RecordHeader(reading:", "SignedNote.parse(", "UTF8Span(validating:",
        "VerifierKey(parsing:",
    ]

    /// A pause throws only where its task is cancelled, and the next line looks for that; a reader of
    /// bytes has one reason to throw.
    private static func needsNoReason(_ call: Substring) -> Bool {
        call.hasPrefix("await Task.sleep(") || readers.contains { call.hasPrefix($0) }
    }

    /// What was only read is whole whether or not its file closes; what is written closes by a call
    /// that is told.
    private static func closes(_ line: String) -> Bool {
        let words = line.drop { $0 == " " }
        return words.hasPrefix("defer { try? ") && words.hasSuffix(".close() }")
    }

    private static func isExplained(_ lines: [String], _ index: Int) -> Bool {
        if lines[index].contains("//") { return true }
        let head = head(lines, index)
        if head > 0, isPlainComment(lines[head - 1]) { return true }
        return words(lines[head]).hasPrefix("guard ") && isThrownOn(lines[index...])
    }

    /// A `guard` that throws in its turn swallows nothing: it says the same in words of its own.
    private static func isThrownOn(_ rest: ArraySlice<String>) -> Bool {
        guard let place = rest.firstIndex(where: { $0.contains("else {") }),
            let range = rest[place].range(of: "else {")
        else { return false }
        let inside = words(rest[place][range.upperBound...])
        return (inside.isEmpty ? words(rest[place + 1]) : inside).hasPrefix("throw ")
    }

    /// The first line of the statement that a line stands in, or of the block's part that it is.
    private static func head(_ lines: [String], _ index: Int) -> Int {
        var head = index
        for place in lines[..<index].indices.reversed() {
            let above = words(lines[place])
            guard !above.isEmpty, !above.hasPrefix("//") else { break }
            let (indent, inner) = (depth(lines[place]), depth(lines[head]))
            if indent > inner { continue }
            let opens = above.hasSuffix("{") || above.hasSuffix(" in") || above.hasSuffix(":")
            let goesOn =
                indent < inner
                ? !opens
                : above.hasSuffix(",") || above.hasSuffix("(")
                    || words(lines[head]).hasPrefix("} else")
            guard goesOn else { break }
            head = place
        }
        return head
    }

    /// What stands behind each `try?` of a line of code.
    private static func calls(of line: String) -> [Substring] {
        guard !words(line).hasPrefix("//") else { return [] }
        return line.ranges(of: #/\btry\? /#).map { line[$0.upperBound...] }
    }

    private static func isPlainComment(_ line: String) -> Bool {
        let words = words(line)
        return words.hasPrefix("//") && !words.hasPrefix("///")
    }

    private static func words(_ line: some StringProtocol) -> Substring {
        Substring(line).drop { $0 == " " }
    }

    private static func depth(_ line: String) -> Int { line.count - words(line).count }
}
