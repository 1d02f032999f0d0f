package import EventLog

// Fits throughout: an item's length has 32 bits and is held against what is left of the bytes.

/// What the vault holds of a stream, as it stands in the vault, in its journal and in a backup of
/// it: self-describing, so that it is found in any bytes and checked alone.
package enum VaultItem: Sendable, Equatable {
    /// A sealed name and key; `digest` stands in clear, `bytes` is all of it.
    case entry(stream: UInt64, digest: SignalDigest, bytes: [UInt8])
    /// The stream is erased; its number is never given again.
    case tombstone(stream: UInt64)

    /// What both forms begin with: magic, length of the whole u32, stream u64.
    static let headerCount = 16
    /// Bytes of the CRC at the end.
    static let checksumCount = 4
    /// More than the longest entry: a name has at most a subject's 1 024 bytes and its store.
    static let byteLimit = 1 << 16

    /// The stream that it is about.
    package var stream: UInt64 {
        switch self {
        case .entry(let stream, _, _), .tombstone(let stream): stream
        }
    }

    /// What is written.
    package var bytes: [UInt8] {
        switch self {
        case .entry(_, _, let bytes): bytes
        case .tombstone(let stream): VaultTombstone.bytes(of: stream)
        }
    }

    /// The item that starts at an offset, and how long it is; nil if none that is whole does.
    ///
    /// `bytes`: any; nothing of it is trusted.
    ///
    /// Cost: a look at four bytes where there is none, else a CRC.
    package static func find(
        in bytes: Span<UInt8>,
        at offset: Int
    ) -> (item: VaultItem, byteCount: Int)? {
        guard offset >= 0, bytes.count >= headerCount + checksumCount,
            offset <= bytes.count - headerCount - checksumCount
        else { return nil }
        let magic = bytes.uint32(at: offset)
        guard magic == VaultEntry.magic || magic == VaultTombstone.magic else { return nil }
        let count = Int(bytes.uint32(at: offset + 4))
        guard count >= headerCount + checksumCount, count <= byteLimit,
            count <= bytes.count - offset
        else { return nil }
        let value = bytes.extracting(offset..<offset + count)
        // The bytes may be anything: most are no item.
        guard let item = try? VaultItem(checking: value) else { return nil }
        return (item, count)
    }

    /// Checks the form and the checksum of a whole item.
    ///
    /// - Throws: `DecodingFault` for other bytes.
    package init(checking value: Span<UInt8>) throws(DecodingFault) {
        if value.count >= 4, value.uint32(at: 0) == VaultTombstone.magic {
            self = .tombstone(stream: try VaultTombstone.stream(checking: value))
        } else {
            let (stream, digest) = try VaultEntry.header(checking: value)
            self = .entry(stream: stream, digest: digest, bytes: value.copy())
        }
    }
}

/// What remains of an erased stream: its number.
///
/// Layout: `ELT1`, length u32, stream u64, CRC-32C.
enum VaultTombstone {
    static let magic: UInt32 = 0x3154_4C45
    private static let byteCount = VaultItem.headerCount + VaultItem.checksumCount

    static func bytes(of stream: UInt64) -> [UInt8] {
        var writer = ByteWriter(reservingCapacity: byteCount)
        writer.append(magic)
        writer.append(UInt32(byteCount))
        writer.append(stream)
        writer.append(CRC32C.checksum(writer.bytes.span))
        return writer.bytes
    }

    static func stream(checking value: Span<UInt8>) throws(DecodingFault) -> UInt64 {
        guard value.count == byteCount, value.uint32(at: 0) == magic,
            value.uint32(at: 4) == UInt32(byteCount)
        else { throw DecodingFault(what: "not a tombstone of this version", offset: 0) }
        let end = VaultItem.headerCount
        guard CRC32C.checksum(value.extracting(0..<end)) == value.uint32(at: end) else {
            throw DecodingFault(what: "tombstone checksum differs", offset: end)
        }
        return value.uint64(at: 8)
    }
}
