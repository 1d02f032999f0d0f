// Fits throughout: places lie within the bytes, and lengths are held against what is left of them.

/// Finds evidences and attachments in bytes where they stand one after the other.
///
/// Each begins with its magic and its length and ends with a checksum, so that what stands behind a
/// damaged one is found again.
package enum AttachedBytes {
    /// `ELA1`: an attachment in clear.
    private static let attachmentMagic: UInt32 = 0x3141_4C45
    /// `ELS1`: a part that evidences have in common.
    private static let partMagic: UInt32 = 0x3153_4C45
    /// Magic, length and checksum.
    private static let leastCount = 12

    /// Whether these are the bytes of an evidence rather than of an attachment or a deleted one.
    package static func isEvidence(_ attached: Span<UInt8>) -> Bool {
        attached.count >= leastCount && attached.uint32(at: 0) == SealedEvidence.magic
    }

    /// The SHA-256 by which a record names what is attached to it: that of the bytes, or, where an
    /// erasure has deleted it, that of what stood there.
    package static func digest(of attached: Span<UInt8>) -> Digest {
        ErasedEvidence.digest(attached) ?? TreeHash.attached(attached)
    }

    /// Where the next whole one stands, from a place on; nil where there is none.
    package static func next(in bytes: Span<UInt8>, from start: Int) -> Range<Int>? {
        var place = start
        while bytes.count - place >= leastCount {
            let magic = bytes.uint32(at: place)
            if [SealedEvidence.magic, ErasedEvidence.magic, attachmentMagic].contains(magic),
                let range = whole(in: bytes, at: place)
            {
                return range
            }
            place += 1
        }
        return nil
    }

    /// Whether these are the bytes of a shared part, whole.
    static func isWholePart(_ bytes: Span<UInt8>) -> Bool {
        bytes.count >= leastCount && bytes.uint32(at: 0) == partMagic
            && whole(in: bytes, at: 0) == 0..<bytes.count
    }

    private static func whole(in bytes: Span<UInt8>, at start: Int) -> Range<Int>? {
        let count = Int(bytes.uint32(at: start + 4))
        guard count >= leastCount, count <= bytes.count - start else { return nil }
        let end = start + count - RecordHeader.checksumCount
        guard CRC32C.checksum(bytes.extracting(start..<end)) == bytes.uint32(at: end) else {
            return nil
        }
        return start..<start + count
    }
}
