import Crypto
import EventLog

/// The keys of all shards, the digest secret and the checkpoint key, wrapped by the master key in
/// one small file that is replaced by rename: what is no longer in it opens nothing any more.
struct EpochKeys: Sendable {
    /// One key for each shard; seals the names and keys of its streams.
    var shards: [SymmetricKey]
    /// Makes digests of signals.
    var digestSecret: SymmetricKey
    /// Chooses the shard of a name.
    var shardSecret: SymmetricKey
    /// Signs checkpoints (Ed25519).
    var checkpointKey: [UInt8]

    static let fileName = "epoch-keys"
    private static let magic: [UInt8] = Array("ELK1".utf8)
    private static let keyCount = 32

    /// Draws all keys anew.
    init(using randomness: inout RandomSource) {
        func key() -> SymmetricKey { SymmetricKey(data: randomness.bytes(Self.keyCount)) }
        shards = (0..<StreamNumber.shardCount).map { _ in key() }
        digestSecret = key()
        shardSecret = key()
        checkpointKey = randomness.bytes(Self.keyCount)
    }

    /// The file's content: magic, then nonce, ciphertext and tag.
    func wrapped(
        by masterKey: SymmetricKey,
        using randomness: inout RandomSource
    ) throws -> [UInt8] {
        var plain: [UInt8] = []
        plain.reserveCapacity((shards.count + 3) * Self.keyCount)
        for key in shards + [digestSecret, shardSecret] { plain += Self.bytes(of: key) }
        plain += checkpointKey
        let sealed = try Sealing.seal(
            plain,
            key: masterKey,
            nonce: SealingNonce(using: &randomness),
            associatedData: Self.magic
        )
        return Self.magic + sealed
    }

    /// Opens the file's content.
    ///
    /// - Throws: `SealingFault` if the master key is another, `DecodingFault` for other content.
    init(unwrapping content: [UInt8], masterKey: SymmetricKey) throws {
        guard content.starts(with: Self.magic) else {
            throw DecodingFault(what: "not epoch keys of this version", offset: 0)
        }
        let plain = try Sealing.open(
            Array(content.dropFirst(Self.magic.count)),
            key: masterKey,
            associatedData: Self.magic
        )
        let count = StreamNumber.shardCount
        guard plain.count == (count + 3) * Self.keyCount else {
            throw DecodingFault(what: "epoch keys of another length", offset: plain.count)
        }
        func bytes(_ index: Int) -> ArraySlice<UInt8> {
            plain[index * Self.keyCount..<(index + 1) * Self.keyCount]
        }
        shards = (0..<count).map { SymmetricKey(data: bytes($0)) }
        digestSecret = SymmetricKey(data: bytes(count))
        shardSecret = SymmetricKey(data: bytes(count + 1))
        checkpointKey = Array(bytes(count + 2))
    }

    private static func bytes(of key: SymmetricKey) -> [UInt8] {
        StreamKeys.bytes(of: key)
    }
}
