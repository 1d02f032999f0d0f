/// What a file shows to another package: each public declaration, without its body, behind the types
/// that it stands in.
struct PublicSurface {
    private(set) var declarations: [String] = []
    /// The blocks around a line; nil: one that is no type.
    private var blocks: [Block?] = []
    /// A declaration that goes on in the next line.
    private var begun: String?
    /// A block's head so far, where it goes over several lines.
    private var head = ""
    private var isText = false

    private struct Block {
        var name: String
        /// Cases of a public enumeration are public without saying so.
        var hasPublicCases: Bool
    }

    init(of lines: [String]) {
        for line in lines { read(line) }
    }

    private mutating func read(_ line: String) {
        // A text over several lines holds no declaration.
        let quotes = line.contains("\"\"\"") ? line.ranges(of: "\"\"\"").count : 0
        defer { if quotes % 2 == 1 { isText.toggle() } }
        guard !isText else { return }
        let code = Self.code(line)
        let words = code.drop { $0 == " " }
        if let started = begun {
            begun = started + " " + words
        } else if words.contains("public") && words.prefixMatch(of: Self.publicWord) != nil
            || isCase(words)
        {
            begun = String(words)
        }
        endDeclaration()
        track(code)
    }

    private static var publicWord: Regex<Substring> {
        #/(?:@\w+(?:\([^)]*\))? +)*(?:[a-z]+ +)*public(?:\(set\))? +(?!import)/#
    }

    private func isCase(_ words: Substring) -> Bool {
        words.hasPrefix("case ") && blocks.last??.hasPublicCases == true
    }

    /// Takes a declaration down once its body, its value or its end is met.
    private mutating func endDeclaration() {
        guard let begun else { return }
        var depth = 0
        var end: String.Index?
        for index in begun.indices {
            switch begun[index] {
            case "(", "[", "<": depth += 1
            case ")", "]": depth -= 1
            case ">" where index == begun.startIndex || begun[begun.index(before: index)] != "-":
                depth -= 1
            case "{" where depth == 0: end = end ?? index
            case "="
            where depth == 0 && begun[..<index].hasSuffix(" ")
                && begun[index...].hasPrefix("= "):
                end = end ?? index
            default: break
            }
            if end != nil { break }
        }
        let isFunction = begun.firstMatch(of: #/\b(?:func|init|subscript)\b/#) != nil
        let isOpen = depth > 0 || begun.hasSuffix(":") || begun.hasSuffix(",")
        guard end != nil || !isOpen && (!isFunction || begun.hasPrefix("case ")) else { return }
        let text = begun[..<(end ?? begun.endIndex)]
        let path = blocks.compactMap { $0?.name }.joined(separator: ".")
        let words = text.split(separator: " ").joined(separator: " ")
            .replacing("( ", with: "(").replacing(" )", with: ")")
        declarations.append(path.isEmpty ? words : path + ": " + words)
        self.begun = nil
    }

    /// Follows the braces of a line.
    private mutating func track(_ code: String) {
        for character in code {
            switch character {
            case "{":
                blocks.append(Self.block(head))
                head = ""
            case "}":
                _ = blocks.popLast()
                head = ""
            default: head.append(character)
            }
        }
        let isGoingOn = head.hasSuffix(",") || head.hasSuffix(":") || head.contains("(")
        if isGoingOn || code.allSatisfy({ $0 == " " }) {
            head += " "
        } else if !head.isEmpty {
            head = head.count < 400 ? head + " " : ""
        }
        if code.contains(";") { head = "" }
    }

    private static let kinds = ["struct ", "enum ", "class ", "actor ", "extension ", "protocol "]

    private static func block(_ head: String) -> Block? {
        guard Self.kinds.contains(where: head.contains),
            let match = head.matches(
                of: #/\b(?<kind>struct|enum|class|actor|extension|protocol) (?<name>[\w.]+)/#
            ).last, !match.name.isEmpty,
            head[match.range.upperBound...].firstMatch(of: #/\b(?:func|var|let|init|case)\b/#)
                == nil
        else { return nil }
        return Block(
            name: String(match.name),
            hasPublicCases: match.kind == "enum" && head.contains("public ")
        )
    }

    /// A line without its texts and its comment.
    private static func code(_ line: String) -> String {
        // Most lines have neither, and a pattern takes its time.
        let hasText = line.utf8.contains(UInt8(ascii: "\""))
        let plain =
            hasText ? line.replacing(#/"(?:[^"\\]|\\.)*"/#, with: "\"\"") : line
        guard plain.utf8.contains(UInt8(ascii: "/")), let comment = plain.firstRange(of: "//")
        else { return plain }
        return String(plain[..<comment.lowerBound])
    }
}
