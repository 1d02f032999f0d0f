/// Finds arithmetic on numbers that came from outside: it traps where they are large enough.
///
/// Such a number is bound to a name where a text, a member of a document, bytes or an option of the
/// command are read; from there on, a line of its file in which the name stands with `+`, `-`, `*`
/// or `<<` must say why the result fits (`// Fits: …`, there or on the line above; `// Fits
/// throughout: …` speaks for the file). What reports overflow (`addingReportingOverflow` and its
/// kin) or holds (`advanced(byMilliseconds:)`) needs no reason.
enum OutsideNumbers {
    /// The numbers of lines that give no reason.
    static func unchecked(in lines: [String]) -> [Int] {
        let code = lines.map(words)
        let bound = code.indices.map {
            Self.names(readIn: code[$0], after: $0 > 0 ? code[$0 - 1] : [])
        }
        let names = Set(bound.joined())
        guard !names.isEmpty, !lines.contains(where: { $0.contains("// Fits throughout: ") }) else {
            return []
        }
        return code.indices.filter { index in
            calculates(code[index], with: names.subtracting(bound[index]))
                && !lines[max(0, index - 1)...index].contains { $0.contains("// Fits: ") }
        }
        .map { $0 + 1 }
    }

    private static let types: Set<Substring> = [
        "Int", "Int8", "Int16", "Int32", "Int64", "UInt", "UInt8", "UInt16", "UInt32", "UInt64",
        "Double",
    ]
    /// What reads a number out of a document or out of bytes.
    private static let readers: Set<Substring> = [
        "integer", "uint16", "uint32", "uint64", "int64", "loadUInt64BigEndian", "bigEndian",
    ]
    private static let operators: Set<Substring> = ["+", "-", "*", "<<", "+=", "-=", "*=", "<<="]

    /// The names that a line binds to numbers from outside.
    private static func names(
        readIn line: [Substring],
        after before: [Substring]
    ) -> [Substring] {
        let bindings = line.indices.filter { line[$0] == "let" || line[$0] == "var" }
        return zip(bindings, bindings.dropFirst() + [line.count]).flatMap { place, end in
            guard place + 3 < end else { return [Substring]() }
            let rest = line[(place + 1)..<end]
            if line.contains("@"), line.contains("Option"), line[place + 2] == ":" {
                return types.contains(line[place + 3]) ? [line[place + 1]] : []
            }
            guard let equals = rest.firstIndex(of: "=") else { return [] }
            let isCondition =
                place > 0 && ["guard", "if", "while", ","].contains(line[place - 1])
                || place == 0 && (before.last == "," || before.last == "guard")
            // One name, or those of a pattern in parentheses.
            let names = rest[..<equals].prefix { $0 != ":" }.filter { $0.first?.isLetter == true }
            return isRead(line[(equals + 1)..<end], isCondition) ? names : []
        }
    }

    private static func isRead(_ value: ArraySlice<Substring>, _ isCondition: Bool) -> Bool {
        let isReader = zip(value, value.dropFirst()).contains { dot, word in
            dot.hasSuffix(".") && readers.contains(word)
        }
        // A failable initializer, by the condition that it stands in, is one that reads a text.
        let isMade = value.drop { $0 == "try" }.first.map(types.contains) == true
        let isMapped = value.contains("flatMap") && value.contains(where: types.contains)
        return isReader || isMapped || isCondition && isMade && !value.contains("exactly")
    }

    private static func calculates(_ line: [Substring], with names: Set<Substring>) -> Bool {
        let isNamed = line.indices.contains { index in
            guard names.contains(line[index]), index == 0 || !line[index - 1].hasSuffix(".") else {
                return false
            }
            let rest = line[(index + 1)...]
            // A label, or something that has the name of a number, and members.
            return rest.first != ":" && (rest.first != "." || rest.dropFirst().first == "map")
        }
        return isNamed
            && line.indices.dropFirst().dropLast().contains { index in
                // Texts are joined by `+` as well.
                operators.contains(line[index]) && line[index - 1] != "\""
                    && line[index + 1] != "\""
            }
    }

    /// The words of a line of code: names and numbers, runs of operators, and single marks; texts
    /// are `"`, comments nothing.
    private static func words(of line: String) -> [Substring] {
        var words: [Substring] = []
        var rest = line[...]
        while let first = rest.first {
            if rest.hasPrefix("//") { break }
            let end: Substring.Index
            if first == "\"" {
                words.append("\"")
                rest = afterText(rest)
                continue
            } else if first.isLetter || first.isNumber || first == "_" || first == "$" {
                end =
                    rest.firstIndex { !($0.isLetter || $0.isNumber || $0 == "_" || $0 == "$") }
                    ?? rest.endIndex
            } else if "+-*<>=&|!?./%^~".contains(first) {
                end = rest.firstIndex { !"+-*<>=&|!?./%^~".contains($0) } ?? rest.endIndex
            } else {
                end = rest.index(after: rest.startIndex)
            }
            if !first.isWhitespace { words.append(rest[..<end]) }
            rest = rest[end...]
        }
        return words
    }

    /// What stands behind a text, its insertions passed over.
    private static func afterText(_ text: Substring) -> Substring {
        var rest = text.dropFirst()
        var depth = 0
        while let first = rest.first {
            rest = rest.dropFirst()
            if first == "\\" {
                if rest.first == "(" { depth += 1 }
                rest = rest.dropFirst()
            } else if depth > 0, first == ")" {
                depth -= 1
            } else if depth == 0, first == "\"" {
                return rest
            }
        }
        return rest
    }
}
