import Entitlements
import EventLog

/// Reads what `FactsWriter` wrote, mark by mark.
struct FactsReader {
    private var cursor: ByteCursor
    private let end: Int

    init(_ range: Range<Int>) {
        cursor = ByteCursor(position: range.lowerBound)
        end = range.upperBound
    }

    var isAtEnd: Bool { cursor.position >= end }

    mutating func mark(_ bytes: Span<UInt8>) throws(DecodingFault) -> UInt8 {
        try cursor.uint8(bytes)
    }

    mutating func text(_ bytes: Span<UInt8>) throws(DecodingFault) -> String {
        try cursor.string(bytes)
    }

    /// A text as a number of a table.
    mutating func name(
        _ bytes: Span<UInt8>,
        _ names: inout FactNameTable
    ) throws(DecodingFault) -> FactName {
        let range = try textRange(bytes)
        guard let name = names.name(utf8: bytes.extracting(range)) else {
            throw DecodingFault(what: "text is not UTF-8", offset: range.lowerBound)
        }
        return name
    }

    mutating func skipText(_ bytes: Span<UInt8>) throws(DecodingFault) {
        _ = try textRange(bytes)
    }

    private mutating func textRange(_ bytes: Span<UInt8>) throws(DecodingFault) -> Range<Int> {
        let count = Int(try cursor.uint16(bytes))
        return try cursor.bytes(bytes, count: count)
    }

    mutating func number(_ bytes: Span<UInt8>) throws(DecodingFault) -> UInt64 {
        try cursor.uint64(bytes)
    }

    mutating func appendStreams(
        _ bytes: Span<UInt8>,
        to streams: inout [UInt64]
    ) throws(DecodingFault) {
        for _ in 0..<(try cursor.uint16(bytes)) { streams.append(try cursor.uint64(bytes)) }
    }

    /// The first of some streams, past all of them; nil: there is none.
    mutating func firstStream(_ bytes: Span<UInt8>) throws(DecodingFault) -> UInt64? {
        let range = try streamsRange(bytes)
        return range.isEmpty ? nil : bytes.uint64(at: range.lowerBound)
    }

    private mutating func streamsRange(_ bytes: Span<UInt8>) throws(DecodingFault) -> Range<Int> {
        let count = Int(try cursor.uint16(bytes))
        // Fits: 16 bits times 8.
        return try cursor.bytes(bytes, count: count * MemoryLayout<UInt64>.size)
    }

    /// A field from a mark; a mark that this version does not know stops the program (E5).
    static func field(_ mark: UInt8) throws(DecodingFault) -> Field {
        guard let field = Field(rawValue: mark) else {
            throw DecodingFault(what: "a field of a newer format", offset: Int(mark), isNewer: true)
        }
        return field
    }

    /// The value of a field in clear, or of one in the sealed part.
    mutating func value(
        of field: Field,
        _ bytes: Span<UInt8>
    ) throws(DecodingFault) -> FieldValue {
        switch field.shape {
        case .choice(let words):
            let index = Int(try cursor.uint8(bytes))
            guard index < words.count else {
                throw .newerWord(at: self)
            }
            return .text(words[index])
        case .instant: return .instant(Instant(milliseconds: try cursor.int64(bytes)))
        case .integer: return .integer(try cursor.int64(bytes))
        case .flag: return .flag(try cursor.uint8(bytes) != 0)
        case .names, .customers:
            var texts: [String] = []
            for _ in 0..<(try cursor.uint16(bytes)) { texts.append(try cursor.string(bytes)) }
            return .texts(texts)
        case .durations:
            var durations: [FieldValue.Duration] = []
            for _ in 0..<(try cursor.uint16(bytes)) {
                let name = try cursor.string(bytes)
                durations.append(
                    FieldValue.Duration(name: name, milliseconds: try cursor.int64(bytes))
                )
            }
            return .durations(durations)
        default: return .text(try cursor.string(bytes))
        }
    }

    /// Passes over the value of a field among the facts.
    mutating func skip(_ field: Field, _ bytes: Span<UInt8>) throws(DecodingFault) {
        switch field {
        case .productKind, .ownership, .offer, .method, .autoRenew, .retryable:
            _ = try cursor.uint8(bytes)
        case .expiresAt, .graceUntil, .resumesAt, .through, .priceMicros, .quantity, .found,
            .appended, .amount, .transactionID, .grantID, .useID, .flowID:
            _ = try cursor.uint64(bytes)
        case .alias, .purchase, .from, .erased, .account: _ = try streamsRange(bytes)
        case .features, .evidence:
            for _ in 0..<(try cursor.uint16(bytes)) { try skipText(bytes) }
        case .stages:
            for _ in 0..<(try cursor.uint16(bytes)) {
                try skipText(bytes)
                _ = try cursor.int64(bytes)
            }
        default: try skipText(bytes)
        }
    }

    fileprivate var position: Int { cursor.position }
}

extension DecodingFault {
    /// A choice that this version does not know stops the program (E5).
    static func newerWord(at reader: FactsReader) -> DecodingFault {
        DecodingFault(what: "a word of a newer format", offset: reader.position, isNewer: true)
    }
}

extension RecordHeader {
    /// The event's kind; one that this version does not know stops the program (E5).
    func eventKind() throws(DecodingFault) -> EventKind {
        guard let kind = EventKind(rawValue: kind) else {
            throw DecodingFault(what: "an event kind of a newer format", offset: 48, isNewer: true)
        }
        return kind
    }
}
