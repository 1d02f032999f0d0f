/// What stands in the place of an evidence that an erasure deleted: whose place it is, and nothing of
/// what stood there.
///
/// Layout: `ELD1`, length u32, SHA-256 of the evidence, zeros, CRC-32C. It is as long as what it
/// stands for, so that it can be written over it.
package enum ErasedEvidence {
    static let magic: UInt32 = 0x3144_4C45
    private static let headerCount = 8 + Digest.byteCount

    /// What stands for an evidence from now on.
    package static func bytes(for evidence: Span<UInt8>) -> [UInt8] {
        // An evidence is longer than this; what is not may be no evidence.
        let count = max(evidence.count, headerCount + RecordHeader.checksumCount)
        var writer = ByteWriter(reservingCapacity: count)
        writer.append(magic)
        writer.append(UInt32(count))
        writer.append(TreeHash.attached(evidence))
        let rest = count - headerCount - RecordHeader.checksumCount
        writer.bytes.append(contentsOf: repeatElement(0, count: rest))
        writer.append(CRC32C.checksum(writer.bytes.span))
        return writer.bytes
    }

    /// The SHA-256 of the evidence in whose place these bytes stand; nil for other bytes.
    package static func digest(_ bytes: Span<UInt8>) -> Digest? {
        let end = bytes.count - RecordHeader.checksumCount
        guard end >= headerCount, bytes.uint32(at: 0) == magic,
            Int(bytes.uint32(at: 4)) == bytes.count,
            CRC32C.checksum(bytes.extracting(0..<end)) == bytes.uint32(at: end)
        else { return nil }
        return Digest(bytes, at: 8)
    }
}
