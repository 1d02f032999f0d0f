import Crypto
import EventLog

/// The keys of all shards, the digest secret and the checkpoint key, wrapped by the master key in
/// one small file that is replaced by rename: what is no longer in it opens nothing any more.
struct EpochKeys: Sendable {
    /// Counts the erasures: each draws the keys of some shards anew.
    private(set) var generation: UInt64 = 0
    /// One key for each shard; seals the names and keys of its streams.
    private(set) var shards: [SymmetricKey]
    /// The generation at which the key of each shard was drawn.
    private(set) var drawn: [UInt64]
    /// While an erasure is under way: the keys of the generation before, of the shards concerned.
    private(set) var replaced: [Int: SymmetricKey] = [:]
    /// Makes digests of signals.
    private(set) var digestSecret: SymmetricKey
    /// Chooses the shard of a name.
    private(set) var shardSecret: SymmetricKey
    /// Signs checkpoints (Ed25519).
    private(set) var checkpointKey: [UInt8]

    static let fileName = "epoch-keys"
    private static let magic: [UInt8] = Array("ELK2".utf8)
    /// Before generations were counted.
    private static let firstMagic: [UInt8] = Array("ELK1".utf8)
    private static let keyCount = 32

    /// Draws all keys anew.
    init(using randomness: inout RandomSource) {
        func key() -> SymmetricKey { SymmetricKey(data: randomness.bytes(Self.keyCount)) }
        shards = (0..<StreamNumber.shardCount).map { _ in key() }
        drawn = Array(repeating: 0, count: StreamNumber.shardCount)
        digestSecret = key()
        shardSecret = key()
        checkpointKey = randomness.bytes(Self.keyCount)
    }

    // MARK: Generations

    /// The next generation, with new keys for some shards beside the old ones.
    func rotating(_ rotated: Set<Int>, using randomness: inout RandomSource) -> EpochKeys {
        var next = self
        next.generation += 1
        for shard in rotated.sorted() {
            next.replaced[shard] = shards[shard]
            next.shards[shard] = SymmetricKey(data: randomness.bytes(Self.keyCount))
            next.drawn[shard] = next.generation
        }
        return next
    }

    /// These keys without those of the generation before.
    var rotated: EpochKeys {
        var keys = self
        keys.replaced = [:]
        return keys
    }

    /// These keys with those of the generation before, of the shards that differ.
    func beside(_ old: EpochKeys) -> EpochKeys {
        var keys = self
        for shard in shards(since: old.generation) { keys.replaced[shard] = old.shards[shard] }
        return keys
    }

    /// The keys that a vault of a generation is sealed under; nil if they are gone.
    ///
    /// `generation`: nil for a vault whose keys were never rotated since it was made by these keys,
    /// or by those that they are about to replace.
    func keys(of generation: UInt64?) -> EpochKeys? {
        let generation = generation ?? first
        guard generation != self.generation else { return self }
        // A machine that slept through erasures goes over several generations at once.
        guard generation < self.generation, !replaced.isEmpty,
            shards(since: generation).isSubset(of: replaced.keys)
        else { return nil }
        var keys = self
        keys.generation = generation
        for (shard, key) in replaced { keys.shards[shard] = key }
        keys.replaced = [:]
        return keys
    }

    /// The generation of a vault whose keys were never rotated.
    var first: UInt64 { replaced.isEmpty ? generation : generation &- 1 }

    /// The shards whose keys were drawn after a generation.
    func shards(since generation: UInt64) -> Set<Int> {
        Set(drawn.indices.filter { drawn[$0] > generation })
    }

    // MARK: The file

    /// The file's content: magic and generation in clear, then nonce, ciphertext and tag.
    func wrapped(
        by masterKey: SymmetricKey,
        using randomness: inout RandomSource
    ) throws -> [UInt8] {
        var plain = ByteWriter(
            reservingCapacity: (shards.count + 3) * Self.keyCount + shards.count * 8
        )
        for key in shards + [digestSecret, shardSecret] {
            plain.append(StreamKeys.bytes(of: key).span)
        }
        plain.append(checkpointKey.span)
        for generation in drawn { plain.append(generation) }
        plain.append(UInt16(replaced.count))
        for (shard, key) in replaced.sorted(by: { $0.key < $1.key }) {
            plain.append(UInt16(shard))
            plain.append(StreamKeys.bytes(of: key).span)
        }
        var writer = ByteWriter(reservingCapacity: plain.bytes.count + 64)
        writer.append(Self.magic.span)
        writer.append(generation)
        let sealed = try Sealing.seal(
            plain.bytes,
            key: masterKey,
            nonce: SealingNonce(using: &randomness),
            associatedData: writer.bytes
        )
        writer.append(sealed.span)
        return writer.bytes
    }

    /// The generation that stands in clear in the file's content.
    ///
    /// - Throws: `DecodingFault` for other content.
    static func generation(of content: [UInt8]) throws(DecodingFault) -> UInt64 {
        if content.starts(with: firstMagic) { return 0 }
        guard content.starts(with: magic), content.count >= magic.count + 8 else {
            throw DecodingFault(what: "not epoch keys of this version", offset: 0)
        }
        return content.span.uint64(at: magic.count)
    }

    /// Opens the file's content; nil if the master key is another.
    ///
    /// - Throws: `DecodingFault` for other content.
    init?(unwrapping content: [UInt8], masterKey: SymmetricKey) throws {
        generation = try Self.generation(of: content)
        let isFirst = content.starts(with: Self.firstMagic)
        let clearCount = Self.magic.count + (isFirst ? 0 : 8)
        let opened = Sealing.open(
            Array(content.dropFirst(clearCount)),
            key: masterKey,
            associatedData: Array(content.prefix(clearCount))
        )
        guard let plain = opened else { return nil }
        let bytes = plain.span
        var cursor = ByteCursor()
        func key() throws -> [UInt8] {
            bytes.copy(try cursor.bytes(bytes, count: Self.keyCount))
        }
        let count = StreamNumber.shardCount
        shards = try (0..<count).map { _ in SymmetricKey(data: try key()) }
        digestSecret = SymmetricKey(data: try key())
        shardSecret = SymmetricKey(data: try key())
        checkpointKey = try key()
        drawn = Array(repeating: 0, count: count)
        if !isFirst {
            for shard in 0..<count { drawn[shard] = try cursor.uint64(bytes) }
            for _ in 0..<(try cursor.uint16(bytes)) {
                let shard = Int(try cursor.uint16(bytes))
                guard shard < count else {
                    throw DecodingFault(what: "a shard that is none", offset: cursor.position)
                }
                replaced[shard] = SymmetricKey(data: try key())
            }
        }
        try cursor.finish(bytes)
    }
}
