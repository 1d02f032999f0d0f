import EventLog

/// A part that evidences have in common, kept once by the SHA-256 of its content, in clear: it
/// names nobody.
///
/// Layout: `ELS1`, length u32, encoding u8 (0 as it is, 1 one Zstandard frame), content, CRC-32C.
enum SharedPart {
    private static let magic: UInt32 = 0x3153_4C45
    private static let headerCount = 9
    private static let checksumCount = 4

    static func bytes(of content: [UInt8]) -> [UInt8] {
        let frame = Zstandard.compress(content)
        let kept = frame ?? content
        var writer = ByteWriter(reservingCapacity: headerCount + kept.count + checksumCount)
        writer.append(magic)
        writer.append(UInt32(headerCount + kept.count + checksumCount))
        writer.append(UInt8(frame == nil ? 0 : 1))
        writer.append(kept.span)
        writer.append(CRC32C.checksum(writer.bytes.span))
        return writer.bytes
    }

    /// The content, if it is what the digest says.
    ///
    /// - Throws: `DecodingFault`.
    static func content(
        _ part: [UInt8],
        digest: EventLog.Digest
    ) throws(DecodingFault) -> [UInt8] {
        let content = try content(part)
        guard TreeHash.attached(content.span) == digest else {
            throw DecodingFault(what: "a shared part is not what its digest says", offset: 0)
        }
        return content
    }

    /// The content, whatever its digest.
    ///
    /// - Throws: `DecodingFault`.
    static func content(_ part: [UInt8]) throws(DecodingFault) -> [UInt8] {
        let bytes = part.span
        let end = bytes.count - checksumCount
        guard end >= headerCount, bytes.uint32(at: 0) == magic,
            Int(bytes.uint32(at: 4)) == bytes.count,
            CRC32C.checksum(bytes.extracting(0..<end)) == bytes.uint32(at: end)
        else { throw DecodingFault(what: "not a shared part of this version", offset: 0) }
        let kept = bytes.copy(headerCount..<end)
        let content =
            switch bytes[8] {
            case 0: kept
            case 1: Zstandard.decompress(kept, limit: SealedEvidence.byteLimit)
            default:
                throw DecodingFault(
                    what: "a shared part of a newer format",
                    offset: 8,
                    isNewer: true
                )
            }
        guard let content else {
            throw DecodingFault(what: "a shared part cannot be unpacked", offset: 0)
        }
        return content
    }
}
