import Crypto
import EventLog

/// A stream's name and key as the vault and its journal hold them: self-describing, sealed under
/// the shard's epoch key.
///
/// Layout: `ELV1`, length u32, stream u64, name digest (16), nonce, ciphertext and tag of key (32),
/// environment u8 and subject; CRC-32C.
struct VaultEntry {
    var stream: UInt64
    var digest: SignalDigest
    var name: StreamName
    var key: [UInt8]

    static let magic: UInt32 = 0x3156_4C45
    private static let headerCount = 32

    func sealed(
        under epochKey: SymmetricKey,
        using randomness: inout RandomSource
    ) throws -> [UInt8] {
        let plainCount = key.count + 1 + name.subject.utf8.count
        let count = Self.headerCount + plainCount + Sealing.overhead + 4
        var writer = ByteWriter(reservingCapacity: count)
        writer.append(Self.magic)
        writer.append(UInt32(count))
        writer.append(stream)
        writer.append(digest.high)
        writer.append(digest.low)
        try writer.append(
            sealedUnder: epochKey,
            nonce: SealingNonce(using: &randomness),
            boundTo: 0..<Self.headerCount
        ) { plain in
            plain.append(key.span)
            plain.append(name.environment)
            plain.append(name.subject.utf8Span.span)
        }
        writer.append(CRC32C.checksum(writer.bytes.span))
        return writer.bytes
    }

    /// Opens an entry; nil if it is sealed under other epoch keys, or its bytes were altered.
    ///
    /// - Throws: `DecodingFault`.
    init?(opening value: Span<UInt8>, epochKeys: EpochKeys) throws(DecodingFault) {
        try Self.check(value)
        let end = value.count - 4
        stream = value.uint64(at: 8)
        digest = SignalDigest(high: value.uint64(at: 16), low: value.uint64(at: 24))
        let opened = Sealing.open(
            value.copy(Self.headerCount..<end),
            key: epochKeys.shards[StreamNumber.shard(of: stream)],
            associatedData: value.copy(0..<Self.headerCount)
        )
        guard let plain = opened else { return nil }
        guard plain.count > StreamKeys.byteCount else {
            throw DecodingFault(what: "vault entry is too short", offset: end)
        }
        key = Array(plain[..<StreamKeys.byteCount])
        name = StreamName(
            environment: plain[StreamKeys.byteCount],
            subject: String(decoding: plain[(StreamKeys.byteCount + 1)...], as: UTF8.self)
        )
    }

    /// The digest of an entry's name, which stands in clear; nil for a tombstone.
    ///
    /// - Throws: `DecodingFault` where the value is not that stream's, whole.
    static func checkedDigest(
        of value: Span<UInt8>,
        stream: UInt64
    ) throws(DecodingFault) -> SignalDigest? {
        if try isTombstone(value, of: stream) { return nil }
        let found = try header(checking: value)
        try checkStream(found.stream, is: stream)
        return found.digest
    }

    /// Whether a value stands for an erased stream: one bit makes an entry look like it.
    ///
    /// - Throws: `DecodingFault` where it looks like a tombstone and is none of that stream.
    static func isTombstone(
        _ value: Span<UInt8>,
        of stream: UInt64
    ) throws(DecodingFault) -> Bool {
        guard value.count >= 4, value.uint32(at: 0) == VaultTombstone.magic else { return false }
        try checkStream(VaultTombstone.stream(checking: value), is: stream)
        return true
    }

    private static func checkStream(
        _ found: UInt64,
        is stream: UInt64
    ) throws(DecodingFault) {
        guard found == stream else {
            throw DecodingFault(what: "a vault entry is another stream's", offset: 8)
        }
    }

    /// What stands in clear in a whole entry.
    ///
    /// - Throws: `DecodingFault` for other bytes.
    static func header(
        checking value: Span<UInt8>
    ) throws(DecodingFault) -> (stream: UInt64, digest: SignalDigest) {
        try check(value)
        return (
            value.uint64(at: 8),
            SignalDigest(high: value.uint64(at: 16), low: value.uint64(at: 24))
        )
    }

    private static func check(_ value: Span<UInt8>) throws(DecodingFault) {
        let end = value.count - 4
        guard end > headerCount + Sealing.overhead, value.uint32(at: 0) == magic,
            Int(value.uint32(at: 4)) == value.count
        else { throw DecodingFault(what: "not a vault entry of this version", offset: 0) }
        guard CRC32C.checksum(value.extracting(0..<end)) == value.uint32(at: end) else {
            throw DecodingFault(what: "vault entry checksum differs", offset: end)
        }
    }

    init(stream: UInt64, digest: SignalDigest, name: StreamName, key: [UInt8]) {
        self.stream = stream
        self.digest = digest
        self.name = name
        self.key = key
    }
}
