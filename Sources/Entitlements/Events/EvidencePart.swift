import Encodings

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
    package var flattened: [UInt8] {
        switch self {
        case .bytes(let bytes), .shared(let bytes): bytes
        case .base64URL(let parts): Base64.digits(of: parts.flattened.span, .url)
        }
    }

    /// How many bytes `flattened` has, without making them.
    package var flattenedCount: Int {
        switch self {
        case .bytes(let bytes), .shared(let bytes): bytes.count
        case .base64URL(let parts): (parts.flattenedCount * 4 + 2) / 3
        }
    }
}

extension [EvidencePart] {
    /// The bytes that these pieces stand for, one after another.
    package var flattened: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(flattenedCount)
        for part in self { bytes += part.flattened }
        return bytes
    }

    /// How many bytes `flattened` has, without making them.
    package var flattenedCount: Int { reduce(0) { $0 + $1.flattenedCount } }
}
