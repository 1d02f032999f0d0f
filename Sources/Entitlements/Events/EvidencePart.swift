/// A piece of evidence; the pieces in their order, flattened, are the bytes as they were received.
///
/// How evidence is cut decides only how little room it takes: whatever the cut, reading gives back
/// the same bytes.
public indirect enum EvidencePart: Hashable, Sendable {
    /// Bytes as they are.
    case bytes([UInt8])
    /// Bytes that many evidences have in common, a signed header with its certificate chain say.
    ///
    /// They are kept once and in clear: never bytes that name somebody.
    case shared([UInt8])
    /// What these pieces come to, in base64url without padding (RFC 4648, section 5).
    ///
    /// It is kept decoded and encoded again when it is read.
    case base64URL([EvidencePart])

    /// The bytes that this piece stands for.
    ///
    /// Cost: linear in them, for each level of nesting.
    public var flattened: [UInt8] {
        switch self {
        case .bytes(let bytes), .shared(let bytes): bytes
        case .base64URL(let parts): Self.base64URL(parts.flattened)
        }
    }

    /// How many bytes `flattened` has, without making them.
    public var flattenedCount: Int {
        switch self {
        case .bytes(let bytes), .shared(let bytes): bytes.count
        case .base64URL(let parts): (parts.flattenedCount * 4 + 2) / 3
        }
    }

    /// Four digits for each three bytes, no padding: one text for one sequence of bytes.
    private static func base64URL(_ bytes: [UInt8]) -> [UInt8] {
        var text: [UInt8] = []
        text.reserveCapacity((bytes.count * 4 + 2) / 3)
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let held = min(3, bytes.count - start)
            var group: UInt32 = 0
            for place in 0..<held { group |= UInt32(bytes[start + place]) << (16 - 8 * place) }
            for digit in 0...held { text.append(digits[Int(group >> (18 - 6 * digit) & 0x3F)]) }
        }
        return text
    }

    private static let digits = Array(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8
    )
}

extension [EvidencePart] {
    /// The bytes that these pieces stand for, one after another.
    public var flattened: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(flattenedCount)
        for part in self { bytes += part.flattened }
        return bytes
    }

    /// How many bytes `flattened` has, without making them.
    public var flattenedCount: Int { reduce(0) { $0 + $1.flattenedCount } }
}
