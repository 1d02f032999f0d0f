/// Writes XML 1.0 in which every text and attribute is escaped: what is in it cannot become markup.
package struct XMLText: Sendable {
    /// What was written.
    package private(set) var text = ""

    /// Begins with nothing.
    package init() {}

    /// An element with what a body writes into it.
    package mutating func element(
        _ name: String,
        _ attributes: KeyValuePairs<String, String> = [:],
        _ body: (inout XMLText) -> Void
    ) {
        begin(name, attributes)
        text += ">"
        body(&self)
        text += "</\(name)>"
    }

    /// An element without content.
    package mutating func element(_ name: String, _ attributes: KeyValuePairs<String, String>) {
        begin(name, attributes)
        text += "/>"
    }

    /// What another one holds.
    package mutating func append(_ other: XMLText) { text += other.text }

    /// Character data.
    package mutating func write(_ content: String) {
        for scalar in content.unicodeScalars { write(scalar) }
    }

    private mutating func begin(_ name: String, _ attributes: KeyValuePairs<String, String>) {
        text += "<" + name
        for (name, value) in attributes {
            text += " " + name + "=\""
            write(value)
            text += "\""
        }
    }

    private mutating func write(_ scalar: Unicode.Scalar) {
        switch scalar {
        case "&": text += "&amp;"
        case "<": text += "&lt;"
        case ">": text += "&gt;"
        case "\"": text += "&quot;"
        case "'": text += "&#39;"
        case "\t", "\n", "\r": text += "&#\(scalar.value);"
        // Not characters of XML 1.0 (section 2.2), however written.
        case "\u{0}"..<" ", "\u{FFFE}", "\u{FFFF}": text.unicodeScalars.append("\u{FFFD}")
        default: text.unicodeScalars.append(scalar)
        }
    }
}
