package import Entitlements

/// What stands in a cell of a page's table, or behind a name of a list of pairs.
package struct PageCell: Sendable, ExpressibleByStringLiteral {
    /// The text; empty: nothing.
    package var text: String
    /// Where it leads; nil: nowhere.
    package var path: String?
    /// What it says of how something is, shown by shape and colour; nil: nothing.
    package var mark: Mark?
    /// How it is set.
    package var form = Form.words

    /// How something is.
    package enum Mark: String, Sendable { case ok, warn, bad, off, plain }

    /// How a text is set.
    package enum Form: Sendable {
        /// Words of ours, in the page's language.
        case words
        /// What the ledger says in English only.
        case english
        /// A name or a number of somebody's.
        case code
        /// A number, set below others.
        case number
        /// An instant.
        case instant
    }

    private init(_ text: String, _ form: Form) {
        self.text = text
        self.form = form
    }

    /// Words of ours.
    package init(stringLiteral text: String) { self.init(text, .words) }

    /// Words of ours.
    package static func words(_ text: String) -> Self { Self(text, .words) }

    /// What is said in English only.
    package static func english(_ text: String) -> Self { Self(text, .english) }

    /// A name as it is; nil: nothing.
    package static func code(_ text: String?) -> Self { Self(text ?? "", .code) }

    /// A number; nil: nothing.
    package static func number(_ number: (some BinaryInteger)?) -> Self {
        Self(number.map { NumberText.grouped(String($0)) } ?? "", .number)
    }

    /// A number as a text, such as a decimal.
    package static func figure(_ text: String) -> Self {
        Self(NumberText.grouped(text), .number)
    }

    /// An instant; nil: nothing.
    package static func instant(_ instant: Instant?) -> Self {
        Self(instant?.description ?? "", .instant)
    }

    /// The same, leading somewhere.
    package func leading(to path: String?) -> Self {
        var cell = self
        cell.path = path
        return cell
    }

    /// The same, with how something is.
    package func marked(_ mark: Mark?) -> Self {
        var cell = self
        cell.mark = mark
        return cell
    }
}

/// Numbers as people read them.
enum NumberText {
    /// Digits in groups of three before the point.
    static func grouped(_ text: String) -> String {
        let parts = text.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        let digits = parts[0].drop { $0 == "-" }
        guard digits.count > 3, digits.allSatisfy(\.isNumber) else { return text }
        var grouped = text.hasPrefix("-") ? "-" : ""
        for (place, digit) in digits.enumerated() {
            if place > 0, (digits.count - place) % 3 == 0 { grouped += "," }
            grouped.append(digit)
        }
        return grouped + (parts.count == 2 ? "." + parts[1] : "")
    }
}

extension XMLText {
    /// A cell's content.
    package mutating func write(_ cell: PageCell) {
        guard let path = cell.path, !cell.text.isEmpty else { return writeMarked(cell) }
        element("a", ["href": path]) { $0.writeMarked(cell) }
    }

    private mutating func writeMarked(_ cell: PageCell) {
        guard let mark = cell.mark else { return writeText(cell) }
        let style = mark == .plain ? "chip" : "chip " + mark.rawValue
        element("span", ["class": style]) { $0.writeText(cell) }
    }

    private mutating func writeText(_ cell: PageCell) {
        guard !cell.text.isEmpty else { return }
        switch cell.form {
        case .words, .number: write(cell.text)
        case .english: element("span", ["lang": "en"]) { $0.write(cell.text) }
        case .code: element("code") { $0.write(cell.text) }
        case .instant:
            element("time", ["datetime": cell.text]) { text in
                // 2026-01-02T03:04:05.678Z, which ends a line between date and time alone.
                text.element("span") { $0.write(String(cell.text.prefix(10))) }
                text.write(" ")
                text.element("span") { $0.write(cell.text.dropFirst(11).prefix(8) + " UTC") }
            }
        }
    }
}
