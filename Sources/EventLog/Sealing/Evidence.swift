import Crypto

/// A companion of evidence: what a signal's events were read from, sealed under a key of all the
/// streams that they name, so that losing one closes it.
///
/// Layout: `ELE1`, length u32, encoding u8, stream count u16, streams u64 each, ciphertext with
/// nonce and tag, CRC-32C.
public enum EvidenceBlob {
    static let magic: UInt32 = 0x3145_4C45
    /// Bytes of evidence that are kept at most.
    public static let byteLimit = 1 << 20
    /// Streams that one evidence may name.
    public static let streamLimit = 256

    /// How the content is encoded before it is sealed.
    public enum Encoding: UInt8, Sendable {
        /// As it is.
        case plain = 0
        /// One Zstandard frame (RFC 8878).
        case zstd = 1
    }

    /// Seals a content.
    ///
    /// `streams`: ascending, each with its keys.
    public static func seal(
        _ content: [UInt8],
        encoding: Encoding,
        streams: [(number: UInt64, keys: StreamKeys)],
        nonce: SealingNonce
    ) throws -> [UInt8] {
        var writer = ByteWriter(reservingCapacity: content.count + 64 + streams.count * 8)
        writer.append(magic)
        writer.append(UInt32(0))
        writer.append(encoding.rawValue)
        writer.append(UInt16(streams.count))
        for stream in streams { writer.append(stream.number) }
        let sealed = try Sealing.seal(
            content,
            key: key(streams.map(\.keys)),
            nonce: nonce,
            associatedData: Array(writer.bytes[8...])
        )
        writer.append(sealed.span)
        writer.replace(at: 4, UInt32(writer.bytes.count + 4))
        writer.append(CRC32C.checksum(writer.bytes.span))
        return writer.bytes
    }

    /// Opens an evidence.
    ///
    /// `keys`: of a stream; nil where it is erased, which closes the evidence.
    ///
    /// - Returns: the content and its encoding; nil if a stream is erased.
    public static func open(
        _ blob: Span<UInt8>,
        keys: (UInt64) throws -> StreamKeys?
    ) throws -> (content: [UInt8], encoding: Encoding)? {
        var cursor = ByteCursor()
        guard try cursor.uint32(blob) == magic, try Int(cursor.uint32(blob)) == blob.count,
            blob.count >= 15 + Sealing.overhead
        else { throw DecodingFault(what: "not evidence of this version", offset: 0) }
        let end = blob.count - RecordHeader.checksumCount
        guard CRC32C.checksum(blob.extracting(0..<end)) == blob.uint32(at: end) else {
            throw DecodingFault(what: "evidence checksum differs", offset: end)
        }
        guard let encoding = Encoding(rawValue: try cursor.uint8(blob)) else {
            throw DecodingFault(what: "unknown evidence encoding", offset: 8)
        }
        var streamKeys: [StreamKeys] = []
        for _ in 0..<(try cursor.uint16(blob)) {
            guard let keys = try keys(cursor.uint64(blob)) else { return nil }
            streamKeys.append(keys)
        }
        guard cursor.position < end else {
            throw DecodingFault(what: "evidence is too short", offset: cursor.position)
        }
        let content = try Sealing.open(
            blob.copy(cursor.position..<end),
            key: key(streamKeys),
            associatedData: blob.copy(8..<cursor.position)
        )
        return (content, encoding)
    }

    /// HKDF over the keys of all streams, in the order of their numbers.
    private static func key(_ keys: [StreamKeys]) -> SymmetricKey {
        let material = keys.reduce(into: [UInt8]()) { material, keys in
            material.append(copying: keys.evidence)
        }
        return HKDF<SHA256>.deriveKey(
            inputKeyMaterial: SymmetricKey(data: material),
            info: Array("entitlement-ledger evidence key v1".utf8),
            outputByteCount: StreamKeys.byteCount
        )
    }
}
