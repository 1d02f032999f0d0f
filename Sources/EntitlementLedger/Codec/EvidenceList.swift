import Encodings
import Entitlements
import EventLog

/// Evidence as a list of parts, of which those that are shared stand elsewhere by their digest.
///
/// Layout of a list: the number of its parts u32, then for each a mark u8 and what the mark asks for:
/// 0 bytes (length u32, bytes), 1 a shared part (its place among the digests u16), 2 base64url of
/// what a list comes to (that list).
struct EvidenceList {
    /// The list's bytes.
    private(set) var content: [UInt8] = []
    /// The shared parts, each once, in the order of their first use.
    private(set) var sharedParts: [(digest: EventLog.Digest, content: [UInt8])] = []

    private enum Mark {
        static let bytes: UInt8 = 0
        static let shared: UInt8 = 1
        static let base64URL: UInt8 = 2
    }

    /// Lists within lists.
    static let depthLimit = 8
    /// Parts of one evidence, on all levels.
    static let partLimit = 4096
    /// Bytes of a list: the evidence, and of each part its mark and length.
    static let contentLimit = SealedEvidence.byteLimit + (partLimit + depthLimit) * 8

    /// Lays parts out; nil where one piece does as well, or where they pass a limit.
    init?(_ parts: [EvidencePart]) {
        let isOnePiece = parts.allSatisfy { if case .bytes = $0 { true } else { false } }
        guard !isOnePiece else { return nil }
        var writer = ByteWriter()
        var left = Self.partLimit
        guard append(parts, to: &writer, depth: 1, &left) else { return nil }
        content = writer.bytes
    }

    /// False where a limit is passed.
    private mutating func append(
        _ parts: [EvidencePart],
        to writer: inout ByteWriter,
        depth: Int,
        _ left: inout Int
    ) -> Bool {
        guard depth <= Self.depthLimit, parts.count <= left else { return false }
        left -= parts.count
        writer.append(UInt32(parts.count))
        for part in parts {
            switch part {
            case .bytes(let bytes):
                guard let count = UInt32(exactly: bytes.count) else { return false }
                writer.append(Mark.bytes)
                writer.append(count)
                writer.append(bytes.span)
            case .shared(let bytes):
                guard let place = place(of: bytes) else { return false }
                writer.append(Mark.shared)
                writer.append(UInt16(place))
            case .base64URL(let inner):
                writer.append(Mark.base64URL)
                guard append(inner, to: &writer, depth: depth + 1, &left) else { return false }
            }
        }
        return true
    }

    /// The place of a shared part; nil where there are too many.
    private mutating func place(of content: [UInt8]) -> Int? {
        // They are few, and comparing is cheaper than hashing.
        let known = sharedParts.firstIndex { $0.content.span.holdsSame(as: content.span) }
        if let known { return known }
        guard sharedParts.count < SealedEvidence.sharedPartLimit else { return nil }
        sharedParts.append((TreeHash.attached(content.span), content))
        return sharedParts.count - 1
    }

    /// Reads a list back.
    ///
    /// `sharedPart`: the content of the shared part at a place.
    ///
    /// - Throws: `DecodingFault`, also where the evidence would pass its limit; what `sharedPart`
    ///   throws.
    static func parts(
        of content: [UInt8],
        sharedPart: (Int) throws -> [UInt8]
    ) throws -> [EvidencePart] {
        var cursor = ByteCursor()
        var left = partLimit
        let parts = try parts(content.span, &cursor, depth: 1, &left, sharedPart)
        try cursor.finish(content.span)
        guard parts.flattenedCount <= SealedEvidence.byteLimit else {
            throw DecodingFault(what: "evidence is longer than its limit", offset: 0)
        }
        return parts
    }

    private static func parts(
        _ bytes: Span<UInt8>,
        _ cursor: inout ByteCursor,
        depth: Int,
        _ left: inout Int,
        _ sharedPart: (Int) throws -> [UInt8]
    ) throws -> [EvidencePart] {
        let count = try Int(cursor.uint32(bytes))
        guard depth <= depthLimit, count <= left else {
            throw DecodingFault(what: "evidence has too many parts", offset: cursor.position)
        }
        left -= count  // Fits: the count is at most what is left.
        var parts: [EvidencePart] = []
        for _ in 0..<count {
            switch try cursor.uint8(bytes) {
            case Mark.bytes:
                let range = try cursor.bytes(bytes, count: Int(cursor.uint32(bytes)))
                parts.append(.bytes(bytes.copy(range)))
            case Mark.shared:
                parts.append(.shared(try sharedPart(Int(cursor.uint16(bytes)))))
            case Mark.base64URL:
                let inner = try Self.parts(bytes, &cursor, depth: depth + 1, &left, sharedPart)
                parts.append(.base64URL(inner))
            default:
                throw DecodingFault(
                    what: "a part of evidence of a newer format",
                    offset: cursor.position,
                    isNewer: true
                )
            }
        }
        return parts
    }
}
