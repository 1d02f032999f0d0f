/// A name as a key: equal, hashed and ordered by its bytes of UTF-8 (Architecture, "Rules of the
/// house").
///
/// Swift's own `==` and `<` take two ways to write an accent for one text; the ledger takes them
/// for two names, of two customers say.
public struct Name: Hashable, Comparable, Sendable, ExpressibleByStringLiteral {
    /// The name.
    public let text: String

    /// Makes a key of a text.
    @inlinable
    public init(_ text: String) { self.text = text }

    /// Makes a key of a text of the program's.
    @inlinable
    public init(stringLiteral text: String) { self.text = text }

    /// Whether the bytes are the same.
    @inlinable
    public static func == (left: Name, right: Name) -> Bool { left.text.isSame(as: right.text) }

    /// See `==`.
    @inlinable
    public func hash(into hasher: inout Hasher) { hasher.combine(bytesOf: text) }

    /// The order of the bytes.
    @inlinable
    public static func < (left: Name, right: Name) -> Bool { left.text.precedes(right.text) }
}

extension Hasher {
    /// Adds a text by its bytes of UTF-8, eight at a time.
    ///
    /// A text's own hash is one for all ways to write its accents: names that somebody chose so would all meet,
    /// and each look at a table of them cost its length.
    @inlinable
    public mutating func combine(bytesOf text: String) {
        let bytes = text.utf8Span.span
        var word: UInt64 = 0
        for place in bytes.indices {
            word = word << 8 | UInt64(bytes[place])
            if place & 7 == 7 {
                combine(word)
                word = 0
            }
        }
        combine(word)
        combine(bytes.count)
    }
}

extension Name: CustomStringConvertible {
    /// The name.
    public var description: String { text }
}

extension String {
    /// Whether both have the same bytes of UTF-8.
    @inlinable
    public func isSame(as other: String?) -> Bool {
        // Swift's comparison is quick where texts differ; it only never tells equal bytes apart.
        guard let other, utf8.count == other.utf8.count, self == other else { return false }
        // What is canonically equal to ASCII and is not takes more bytes.
        return utf8Span.isKnownASCII || utf8.elementsEqual(other.utf8)
    }

    /// Whether this comes before another text in the order of their bytes, which is that of their
    /// Unicode scalars.
    @inlinable
    public func precedes(_ other: String) -> Bool {
        utf8.lexicographicallyPrecedes(other.utf8)
    }
}

extension Sequence<String> {
    /// In the order of their bytes.
    @inlinable
    public func sortedByBytes() -> [String] { sorted { $0.precedes($1) } }

    /// Whether a name is among them.
    @inlinable
    public func holds(_ name: String) -> Bool { contains { $0.isSame(as: name) } }
}

extension Set<Name> {
    /// The names of some texts.
    @inlinable
    public init(texts: some Sequence<String>) { self.init(texts.lazy.map { Name($0) }) }

    /// Whether a name is among them.
    @inlinable
    public func contains(_ text: String) -> Bool { contains(Name(text)) }

    /// The names as texts, in the order of their bytes.
    public var texts: [String] { sorted().map(\.text) }
}

extension Dictionary where Key == Name {
    /// The value of a name.
    @inlinable public subscript(text: String) -> Value? {
        get { self[Name(text)] }
        set { self[Name(text)] = newValue }
    }
}
