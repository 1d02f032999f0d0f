/// A page as a browser reads it: a small tokenizer, which finds what breaks out of its place.
struct PageText {
    /// Character data, unescaped, one entry for each run between tags.
    private(set) var texts: [String] = []
    /// Targets of links.
    private(set) var links: [String] = []
    /// Names of elements, in their order.
    private(set) var elements: [String] = []
    /// Names of attributes.
    private(set) var attributes: Set<String> = []
    /// Values of attributes.
    private(set) var values: [String] = []
    private var byID: [String: String] = [:]

    /// Why a text is no page of ours.
    struct Fault: Error, CustomStringConvertible { var description: String }

    /// Scalar by scalar, as a browser does: a mark that combines with a sign hides no sign.
    private typealias Rest = Substring.UnicodeScalarView

    /// Reads a page; everything that it opens must be closed, in its order.
    init(_ html: String) throws {
        var rest = html.unicodeScalars[...]
        try Self.take("<!doctype html>", from: &rest)
        var open: [(name: String, id: String?)] = []
        while let next = rest.first {
            guard next == "<" else {
                let text = Self.text(&rest) { $0 != "<" }
                let plain = try Self.unescaped(text)
                texts.append(plain)
                if let id = open.last?.id { byID[id, default: ""] += plain }
                continue
            }
            try readTag(&rest, &open)
        }
        guard open.isEmpty else { throw Fault(description: "not closed: \(open)") }
    }

    /// The text directly in the element of an id.
    func text(ofElement id: String) -> String? { byID[id] }

    private mutating func readTag(
        _ rest: inout Rest,
        _ open: inout [(name: String, id: String?)]
    ) throws {
        try Self.take("<", from: &rest)
        if rest.first == "/" {
            try Self.take("/", from: &rest)
            let name = Self.text(&rest) { $0 != ">" }
            guard open.popLast()?.name == name else { throw Fault(description: "</\(name)>") }
            return try Self.take(">", from: &rest)
        }
        let name = Self.text(&rest, while: Self.isOfName)
        guard !name.isEmpty else { throw Fault(description: "<\(String(rest.prefix(20)))") }
        elements.append(name)
        var id: String?
        while rest.first == " " {
            try Self.take(" ", from: &rest)
            let attribute = Self.text(&rest, while: Self.isOfName)
            guard !attribute.isEmpty else { throw Fault(description: "an attribute of \(name)") }
            try Self.take("=\"", from: &rest)
            let value = try Self.unescaped(Self.text(&rest) { $0 != "\"" })
            try Self.take("\"", from: &rest)
            attributes.insert(attribute)
            values.append(value)
            if attribute == "id" { id = value }
            if attribute == "href", name == "a" { links.append(value) }
        }
        guard rest.first == "/" else {
            open.append((name, id))
            return try Self.take(">", from: &rest)
        }
        try Self.take("/>", from: &rest)
    }

    private static func isOfName(_ scalar: Unicode.Scalar) -> Bool {
        scalar == "-" || scalar.isASCII && scalar.properties.isAlphabetic
            || ("0"..."9").contains(scalar)
    }

    private static func take(_ text: String, from rest: inout Rest) throws {
        guard rest.starts(with: text.unicodeScalars) else {
            throw Fault(description: "expected \(text) before \(String(rest.prefix(40)))")
        }
        rest = rest.dropFirst(text.unicodeScalars.count)
    }

    private static func text(
        _ rest: inout Rest,
        while isPart: (Unicode.Scalar) -> Bool
    ) -> String {
        let text = rest.prefix(while: isPart)
        rest = rest[text.endIndex...]
        return String(text)
    }

    /// Text without escapes; what should have been escaped is a fault.
    private static func unescaped(_ text: String) throws -> String {
        var plain = String.UnicodeScalarView()
        var rest = text.unicodeScalars[...]
        while let next = rest.first {
            guard next == "&" else {
                guard next != "<", next != ">", next != "\"", next != "'" else {
                    throw Fault(description: "\(next) stands in \(text)")
                }
                plain.append(next)
                rest = rest.dropFirst()
                continue
            }
            try take("&", from: &rest)
            let name = Self.text(&rest) { $0 != ";" }
            try take(";", from: &rest)
            let known: [String: Unicode.Scalar] = ["amp": "&", "lt": "<", "gt": ">", "quot": "\""]
            let numbered =
                name.hasPrefix("#")
                ? UInt32(name.dropFirst()).flatMap { Unicode.Scalar($0) } : nil
            guard let scalar = known[name] ?? numbered else {
                throw Fault(description: "&\(name);")
            }
            plain.append(scalar)
        }
        return String(plain)
    }
}
