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
        self = try JSONReader.value(of: bytes)
    }

    /// Reads one JSON text held in an array.
    public init(parsing bytes: [UInt8]) throws(JSONFault) {
        try self.init(parsing: bytes.span)
    }

    /// Reads one JSON text held in an array that has at most so many names and values.
    package init(parsing bytes: [UInt8], placeLimit: Int) throws(JSONFault) {
        self = try JSONReader.value(of: bytes.span, placeLimit: placeLimit)
    }

    /// Reads one JSON text of a store's, whose texts others wrote (Stores, rule 6): one with a lone
    /// surrogate is null, and a member with such a name is left out.
    ///
    /// None stands for another: two broken names would be one, were they replaced by characters.
    package init(parsingStoreText bytes: Span<UInt8>) throws(JSONFault) {
        self = try JSONReader.value(of: bytes, dropsBrokenText: true)
    }

    /// Reads one JSON text of a store's held in an array.
    ///
    /// `placeLimit`: how many names and values it has at most.
    package init(parsingStoreText bytes: [UInt8], placeLimit: Int = .max) throws(JSONFault) {
        self = try JSONReader.value(
            of: bytes.span,
            dropsBrokenText: true,
            placeLimit: placeLimit
        )
    }
}

/// A recursive-descent reader over lent bytes, which notes where values stand.
struct JSONReader {
    private var places = JSONPlaces()
    private var position = 0
    private let count: Int
    /// Whether a text with a lone surrogate is dropped rather than refused.
    private let dropsBrokenText: Bool
    /// Whether the text that was read last has one.
    private var isBroken = false
    /// Names and values that are read at most.
    private let placeLimit: Int

    init(count: Int, dropsBrokenText: Bool = false, placeLimit: Int = .max) {
        self.count = count
        self.dropsBrokenText = dropsBrokenText
        self.placeLimit = placeLimit
    }

    static func value(
        of bytes: Span<UInt8>,
        dropsBrokenText: Bool = false,
        placeLimit: Int = .max
    ) throws(JSONFault) -> JSONValue {
        var reader = JSONReader(
            count: bytes.count,
            dropsBrokenText: dropsBrokenText,
            placeLimit: placeLimit
        )
        var root = JSONText.root
        return try reader.document(bytes).value(&root, bytes)
    }

    mutating func document(_ bytes: Span<UInt8>) throws(JSONFault) -> JSONPlaces {
        guard count <= JSONPlaces.byteLimit else { throw fault("too long") }
        try value(bytes, depth: 0)
        skipSpace(bytes)
        guard position == count else { throw fault("unexpected text after the value") }
        return places
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

    private mutating func value(_ bytes: Span<UInt8>, depth: Int) throws(JSONFault) {
        guard depth <= JSONValue.depthLimit else { throw fault("nested too deeply") }
        guard places.count < placeLimit else {
            throw fault("more than \(placeLimit) names and values")
        }
        skipSpace(bytes)
        guard position < count else { throw fault("unexpected end") }
        switch bytes[position] {
        case UInt8(ascii: "{"): try object(bytes, depth: depth)
        case UInt8(ascii: "["): try array(bytes, depth: depth)
        case UInt8(ascii: "\""): try string(bytes)
        case UInt8(ascii: "t"): try word("true", .yes, bytes)
        case UInt8(ascii: "f"): try word("false", .no, bytes)
        case UInt8(ascii: "n"): try word("null", .null, bytes)
        default: try number(bytes)
        }
    }

    private mutating func word(
        _ word: StaticString,
        _ kind: JSONPlaces.Kind,
        _ bytes: Span<UInt8>
    ) throws(JSONFault) {
        for byte in word.description.utf8 {
            guard take(byte, bytes) else { throw fault("expected \(word)") }
        }
        places.append(kind)
    }

    private mutating func object(_ bytes: Span<UInt8>, depth: Int) throws(JSONFault) {
        position += 1
        let object = places.count
        places.append(.object)
        var members = 0
        var names = Set<Name>()
        skipSpace(bytes)
        if take(UInt8(ascii: "}"), bytes) { return places.close(object, count: 0) }
        repeat {
            skipSpace(bytes)
            guard position < count, bytes[position] == UInt8(ascii: "\"") else {
                throw fault("expected a member name")
            }
            let name = places.count
            try string(bytes)
            let isLeftOut = isBroken
            guard isLeftOut || isNew(name, in: object, members, &names, bytes) else {
                throw fault("repeated member name")
            }
            skipSpace(bytes)
            guard take(UInt8(ascii: ":"), bytes) else { throw fault("expected ':'") }
            try value(bytes, depth: depth + 1)
            if isLeftOut { places.drop(from: name) } else { members += 1 }
            skipSpace(bytes)
        } while take(UInt8(ascii: ","), bytes)
        guard take(UInt8(ascii: "}"), bytes) else { throw fault("expected ',' or '}'") }
        places.close(object, count: members)
    }

    /// Members of an object whose names are compared one by one.
    private static let comparedLimit = 48

    /// Small objects compare in place; large ones keep a set, so that hostile input stays linear.
    private func isNew(
        _ name: Int,
        in object: Int,
        _ members: Int,
        _ names: inout Set<Name>,
        _ bytes: Span<UInt8>
    ) -> Bool {
        guard members < Self.comparedLimit || names.isEmpty else {
            return names.insert(key(name, bytes)).inserted
        }
        var other = object + 1
        for _ in 0..<members {
            if members >= Self.comparedLimit {
                names.insert(key(other, bytes))
            } else if places.isSame(name, as: other, bytes) {
                return false
            }
            other = places.next(after: other + 1)
        }
        return members < Self.comparedLimit || names.insert(key(name, bytes)).inserted
    }

    private func key(_ name: Int, _ bytes: Span<UInt8>) -> Name {
        Name(places.string(name, bytes) ?? "")
    }

    private mutating func array(_ bytes: Span<UInt8>, depth: Int) throws(JSONFault) {
        position += 1
        let array = places.count
        places.append(.array)
        var elements = 0
        skipSpace(bytes)
        if take(UInt8(ascii: "]"), bytes) { return places.close(array, count: 0) }
        repeat {
            try value(bytes, depth: depth + 1)
            elements += 1
            skipSpace(bytes)
        } while take(UInt8(ascii: ","), bytes)
        guard take(UInt8(ascii: "]"), bytes) else { throw fault("expected ',' or ']'") }
        places.close(array, count: elements)
    }

    private mutating func number(_ bytes: Span<UInt8>) throws(JSONFault) {
        let start = position
        _ = take(UInt8(ascii: "-"), bytes)
        if !take(UInt8(ascii: "0"), bytes) { try digits(bytes) }
        if take(UInt8(ascii: "."), bytes) { try digits(bytes) }
        if take(UInt8(ascii: "e"), bytes) || take(UInt8(ascii: "E"), bytes) {
            if !take(UInt8(ascii: "+"), bytes) { _ = take(UInt8(ascii: "-"), bytes) }
            try digits(bytes)
        }
        places.append(.number, start..<position)
    }

    private mutating func digits(_ bytes: Span<UInt8>) throws(JSONFault) {
        let start = position
        while position < count, (0x30...0x39).contains(bytes[position]) { position += 1 }
        guard position > start else { throw fault("expected a value") }
    }

    /// Notes a string; a null, where it is broken and such are dropped.
    private mutating func string(_ bytes: Span<UInt8>) throws(JSONFault) {
        isBroken = false
        position += 1
        let start = position
        try passPlain(bytes)
        if take(UInt8(ascii: "\""), bytes) { return places.append(.string, start..<position - 1) }
        let text = try escapedString(bytes, from: start)
        if isBroken { places.append(.null) } else { places.append(unescaped: text) }
    }

    private mutating func escapedString(
        _ bytes: Span<UInt8>,
        from start: Int
    ) throws(JSONFault) -> [UInt8] {
        var text: [UInt8] = []
        append(bytes, start..<position, to: &text)
        while take(UInt8(ascii: "\\"), bytes) {
            text.append(contentsOf: String(Character(try escape(bytes))).utf8)
            let plainStart = position
            try passPlain(bytes)
            append(bytes, plainStart..<position, to: &text)
        }
        position += 1
        return text
    }

    /// Passes over characters up to an escape or the end of the string.
    private mutating func passPlain(_ bytes: Span<UInt8>) throws(JSONFault) {
        let start = position
        let (end, isASCII) = bytes.plainEnd(from: start)
        position = end
        guard end < bytes.count else { throw fault("unexpected end of a string") }
        guard bytes[end] >= 0x20 else { throw fault("control character in a string") }
        if !isASCII { try check(bytes, start..<end) }
    }

    private func append(
        _ bytes: Span<UInt8>,
        _ range: Range<Int>,
        to text: inout [UInt8]
    ) {
        for index in range { text.append(bytes[index]) }
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

    private func check(_ bytes: Span<UInt8>, _ range: Range<Int>) throws(JSONFault) {
        do {
            _ = try UTF8Span(validating: bytes.extracting(range))
        } catch {
            throw JSONFault(message: "invalid UTF-8", offset: range.lowerBound)
        }
    }
}
