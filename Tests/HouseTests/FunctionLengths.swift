/// Functions of a file that do not fit a screen.
enum FunctionLengths {
    /// Lines of a function, from the line of its name to its last brace.
    static let limit = 70

    /// The first lines of those that are longer than the limit, counted from 1.
    static func overlong(in lines: [String]) -> [Int] {
        var found: [Int] = []
        var open: [(line: Int, indent: Int)] = []
        for (index, line) in lines.enumerated() {
            let words = line.drop { $0 == " " }
            guard !words.hasPrefix("//"), !words.isEmpty else { continue }
            let indent = line.count - words.count
            // What has no body, a protocol's, ends with what it stands in.
            while let last = open.last, indent < last.indent { open.removeLast() }
            // The formatter puts the brace that ends a function below its first word.
            if let last = open.last, indent == last.indent, words.hasPrefix("}") {
                open.removeLast()
                if index - last.line + 1 > limit { found.append(last.line + 1) }
            } else if isFunction(words), !isWhole(words) {
                open.append((index, indent))
            }
        }
        return found
    }

    private static func isFunction(_ words: Substring) -> Bool {
        (words.contains("func ") || words.contains("init") || words.contains("subscript"))
            && words.prefixMatch(
                of:
                    #/(?:@\w+(?:\([^)]*\))? +)*(?:[a-z]+(?:\(set\))? +)*(?:func |init[?<(]|subscript[<(])/#
            ) != nil && !words.hasPrefix("return ") && !words.hasPrefix("try ")
    }

    /// Whether it begins and ends in its line.
    private static func isWhole(_ words: Substring) -> Bool {
        words.hasSuffix("}") || words.hasPrefix("self.init") || words.hasSuffix(")")
    }
}
