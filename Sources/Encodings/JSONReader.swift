/// What is wrong with a JSON text, and at which byte.
public struct JSONFault: Error, Hashable, Sendable {
    /// A short sentence.
    public var message: String
    /// Offset of the byte where reading stopped.
    public var offset: Int
}

extension JSONValue {
    /// Nesting deeper than this is refused.
    public static let depthLimit = 64

    /// Reads one JSON text (RFC 8259), strictly: UTF-8 is checked, a repeated member name, a
    /// lone surrogate and anything after the value are refused.
    ///
    /// - Throws: `JSONFault`. Cost: linear in the bytes.
    public init(parsing bytes: Span<UInt8>) throws(JSONFault) {
        var reader = JSONReader(count: bytes.count)
        self = try reader.document(bytes)
    }

    /// Reads one JSON text held in an array.
    public init(parsing bytes: [UInt8]) throws(JSONFault) {
        try self.init(parsing: bytes.span)
    }

    /// Reads one JSON text of a store's, whose texts others wrote (Stores, rule 6): one with a lone
    /// surrogate is null, and a member with such a name is left out.
    ///
    /// None stands for another: two broken names would be one, were they replaced by characters.
    package init(parsingStoreText bytes: Span<UInt8>) throws(JSONFault) {
        var reader = JSONReader(count: bytes.count, dropsBrokenText: true)
        self = try reader.document(bytes)
    }

    /// Reads one JSON text of a store's held in an array.
    package init(parsingStoreText bytes: [UInt8]) throws(JSONFault) {
        try self.init(parsingStoreText: bytes.span)
    }
}

/// A recursive-descent reader over lent bytes.
private struct JSONReader {
    private var position = 0
    private let count: Int
    /// Whether a text with a lone surrogate is dropped rather than refused.
    private let dropsBrokenText: Bool
    /// Whether the text that was read last has one.
    private var isBroken = false

    init(count: Int, dropsBrokenText: Bool = false) {
        self.count = count
        self.dropsBrokenText = dropsBrokenText
    }

    mutating func document(_ bytes: Span<UInt8>) throws(JSONFault) -> JSONValue {
        let value = try self.value(bytes, depth: 0)
        skipSpace(bytes)
        guard position == count else { throw fault("unexpected text after the value") }
        return value
    }

    private func fault(_ message: String) -> JSONFault {
        JSONFault(message: message, offset: position)
    }

    private mutating func skipSpace(_ bytes: Span<UInt8>) {
        while position < count {
            switch bytes[position] {
            case 0x20, 0x09, 0x0A, 0x0D: position += 1
            default: return
            }
        }
    }

    private mutating func take(_ byte: UInt8, _ bytes: Span<UInt8>) -> Bool {
        guard position < count, bytes[position] == byte else { return false }
        position += 1
        return true
    }

    private mutating func value(_ bytes: Span<UInt8>, depth: Int) throws(JSONFault) -> JSONValue {
        guard depth <= JSONValue.depthLimit else { throw fault("nested too deeply") }
        skipSpace(bytes)
        guard position < count else { throw fault("unexpected end") }
        switch bytes[position] {
        case UInt8(ascii: "{"): return try object(bytes, depth: depth)
        case UInt8(ascii: "["): return try array(bytes, depth: depth)
        case UInt8(ascii: "\""):
            let text = try string(bytes)
            return isBroken ? .null : .string(text)
        case UInt8(ascii: "t"): return try word("true", .bool(true), bytes)
        case UInt8(ascii: "f"): return try word("false", .bool(false), bytes)
        case UInt8(ascii: "n"): return try word("null", .null, bytes)
        default: return .number(try number(bytes))
        }
    }

    private mutating func word(
        _ word: StaticString,
        _ value: JSONValue,
        _ bytes: Span<UInt8>
    ) throws(JSONFault) -> JSONValue {
        for byte in word.description.utf8 {
            guard take(byte, bytes) else { throw fault("expected \(word)") }
        }
        return value
    }

    private mutating func object(
        _ bytes: Span<UInt8>,
        depth: Int
    ) throws(JSONFault) -> JSONValue {
        position += 1
        var members: [JSONMember] = []
        var names = Set<Name>()
        skipSpace(bytes)
        if take(UInt8(ascii: "}"), bytes) { return .object([]) }
        repeat {
            skipSpace(bytes)
            guard position < count, bytes[position] == UInt8(ascii: "\"") else {
                throw fault("expected a member name")
            }
            let name = try string(bytes)
            let isLeftOut = isBroken
            guard isLeftOut || isNew(name, in: members, &names) else {
                throw fault("repeated member name")
            }
            skipSpace(bytes)
            guard take(UInt8(ascii: ":"), bytes) else { throw fault("expected ':'") }
            let value = try value(bytes, depth: depth + 1)
            if !isLeftOut { members.append(JSONMember(name, value)) }
            skipSpace(bytes)
        } while take(UInt8(ascii: ","), bytes)
        guard take(UInt8(ascii: "}"), bytes) else { throw fault("expected ',' or '}'") }
        return .object(members)
    }

    /// Small objects compare in place; large ones keep a set, so that hostile input stays linear.
    private func isNew(
        _ name: String,
        in members: [JSONMember],
        _ names: inout Set<Name>
    ) -> Bool {
        if members.count < 16 { return !members.contains { $0.name.isSame(as: name) } }
        if names.isEmpty { names = Set(texts: members.map(\.name)) }
        return names.insert(Name(name)).inserted
    }

    private mutating func array(_ bytes: Span<UInt8>, depth: Int) throws(JSONFault) -> JSONValue {
        position += 1
        var elements: [JSONValue] = []
        skipSpace(bytes)
        if take(UInt8(ascii: "]"), bytes) { return .array([]) }
        repeat {
            elements.append(try value(bytes, depth: depth + 1))
            skipSpace(bytes)
        } while take(UInt8(ascii: ","), bytes)
        guard take(UInt8(ascii: "]"), bytes) else { throw fault("expected ',' or ']'") }
        return .array(elements)
    }

    private mutating func number(_ bytes: Span<UInt8>) throws(JSONFault) -> String {
        let start = position
        _ = take(UInt8(ascii: "-"), bytes)
        if !take(UInt8(ascii: "0"), bytes) { try digits(bytes) }
        if take(UInt8(ascii: "."), bytes) { try digits(bytes) }
        if take(UInt8(ascii: "e"), bytes) || take(UInt8(ascii: "E"), bytes) {
            if !take(UInt8(ascii: "+"), bytes) { _ = take(UInt8(ascii: "-"), bytes) }
            try digits(bytes)
        }
        return try text(bytes, start..<position)
    }

    private mutating func digits(_ bytes: Span<UInt8>) throws(JSONFault) {
        let start = position
        while position < count, (0x30...0x39).contains(bytes[position]) { position += 1 }
        guard position > start else { throw fault("expected a value") }
    }

    private mutating func string(_ bytes: Span<UInt8>) throws(JSONFault) -> String {
        isBroken = false
        position += 1
        let start = position
        while position < count {
            switch bytes[position] {
            case UInt8(ascii: "\""):
                position += 1
                return try text(bytes, start..<position - 1)
            case UInt8(ascii: "\\"):
                return try escapedString(bytes, from: start)
            case 0..<0x20:
                throw fault("control character in a string")
            default:
                position += 1
            }
        }
        throw fault("unexpected end of a string")
    }

    private mutating func escapedString(
        _ bytes: Span<UInt8>,
        from start: Int
    ) throws(JSONFault) -> String {
        var result = try text(bytes, start..<position)
        var plainStart = position
        while position < count {
            switch bytes[position] {
            case UInt8(ascii: "\""):
                result += try text(bytes, plainStart..<position)
                position += 1
                return result
            case UInt8(ascii: "\\"):
                result += try text(bytes, plainStart..<position)
                position += 1
                result.unicodeScalars.append(try escape(bytes))
                plainStart = position
            case 0..<0x20:
                throw fault("control character in a string")
            default:
                position += 1
            }
        }
        throw fault("unexpected end of a string")
    }

    private mutating func escape(_ bytes: Span<UInt8>) throws(JSONFault) -> Unicode.Scalar {
        guard position < count else { throw fault("unexpected end of a string") }
        let byte = bytes[position]
        position += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Unicode.Scalar(byte)
        case UInt8(ascii: "b"): return "\u{8}"
        case UInt8(ascii: "f"): return "\u{C}"
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "u"): return try unicodeEscape(bytes)
        default: throw fault("unknown escape")
        }
    }

    private mutating func unicodeEscape(_ bytes: Span<UInt8>) throws(JSONFault) -> Unicode.Scalar {
        let high = try hex4(bytes)
        if let scalar = Unicode.Scalar(high) { return scalar }
        let next = position
        if high < 0xDC00, take(UInt8(ascii: "\\"), bytes), take(UInt8(ascii: "u"), bytes) {
            let low = try hex4(bytes)
            if (0xDC00...0xDFFF).contains(low),
                let scalar = Unicode.Scalar(0x10000 + (high - 0xD800) << 10 + (low - 0xDC00))
            {
                return scalar
            }
        }
        guard dropsBrokenText else { throw fault("lone surrogate") }
        // What follows stands for itself.
        position = next
        isBroken = true
        return Self.replacement
    }

    /// Stands for what is no character, in texts that are dropped.
    private static let replacement: Unicode.Scalar = "\u{FFFD}"

    private mutating func hex4(_ bytes: Span<UInt8>) throws(JSONFault) -> UInt32 {
        guard count - position >= 4 else { throw fault("unexpected end of a string") }
        var value: UInt32 = 0
        for _ in 0..<4 {
            guard let digit = Hexadecimal.value(of: bytes[position]) else {
                throw fault("expected four hexadecimal digits")
            }
            value = value << 4 | UInt32(digit)
            position += 1
        }
        return value
    }

    private func text(_ bytes: Span<UInt8>, _ range: Range<Int>) throws(JSONFault) -> String {
        let part = bytes.extracting(range)
        guard let utf8 = try? UTF8Span(validating: part) else {
            throw JSONFault(message: "invalid UTF-8", offset: range.lowerBound)
        }
        return String(copying: utf8)
    }
}
