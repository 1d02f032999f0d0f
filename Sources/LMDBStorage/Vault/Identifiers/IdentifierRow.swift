import EventLog
import LMDB

/// Where an id belongs in the vault's table of ids: bits of its digest under the epoch key of a shard.
struct IdentifierPlace: Hashable {
    /// The shard, then the first bits of the digest.
    let bucket: Int
    /// The bits behind them.
    let tag: UInt32

    private static let bucketBits: UInt64 = 2
    /// Buckets of one shard.
    static let bucketsOfShard = 1 << Int(bucketBits)
    static let bucketCount = StreamNumber.shardCount * bucketsOfShard
    /// Apart from names, of which digests are made under the same keys: no environment has this number.
    private static let mark: UInt8 = 0xFF

    init(of id: [UInt8], shard: Int, _ epochs: EpochKeys) {
        let digest = SignalDigest(
            KeyedHash(epochs.shards[shard]).code(for: ([Self.mark] + id).span)
        ).high
        let rest = UInt64(UInt64.bitWidth) - Self.bucketBits
        // Fits: so few bits.
        bucket = shard * Self.bucketsOfShard + Int(digest >> rest)
        tag = UInt32(truncatingIfNeeded: digest >> (rest - 32))
    }

    static func buckets(of shard: Int) -> Range<Int> {
        shard * bucketsOfShard..<(shard + 1) * bucketsOfShard
    }
}

/// A row of a bucket: that a stream may hold an id.
struct IdentifierRow: Hashable, Comparable {
    /// Bits of the id's digest.
    var tag: UInt32
    /// The stream's counter; its shard is the bucket's.
    var counter: UInt64

    /// Bytes of a row.
    static let byteCount = 10
    /// Counters beyond it have no row: nobody has so many streams.
    private static let counterBits: UInt64 = 48

    /// nil: for a stream that no ledger has.
    init?(_ place: IdentifierPlace, stream: UInt64) {
        (tag, counter) = (place.tag, StreamNumber.counter(of: stream))
        guard counter >> Self.counterBits == 0 else { return nil }
    }

    /// Reads the row of a number, from 0, of a bucket.
    init(_ number: Int, of bucket: Span<UInt8>) {
        // Fits: the bucket has that many bytes.
        let offset = number * Self.byteCount
        let word = bucket.loadUInt64BigEndian(at: offset)
        tag = UInt32(truncatingIfNeeded: word >> 32)
        // Fits: it stays below 48 bits.
        let high = (word & 0xFFFF_FFFF) << 16
        counter = high | UInt64(bucket[offset + 8]) << 8 | UInt64(bucket[offset + 9])
    }

    /// A number for the row in its bucket: sums of them differ where sets do.
    func fingerprint(in bucket: Int) -> UInt64 {
        VaultNames.fingerprint(UInt64(bucket), UInt64(tag), counter)
    }

    func append(to bytes: inout [UInt8]) {
        for shift in stride(from: 24, through: 0, by: -8) {
            bytes.append(UInt8(truncatingIfNeeded: tag >> UInt32(shift)))
        }
        for shift in stride(from: 40, through: 0, by: -8) {
            bytes.append(UInt8(truncatingIfNeeded: counter >> UInt64(shift)))
        }
    }

    static func < (left: IdentifierRow, right: IdentifierRow) -> Bool {
        (left.tag, left.counter) < (right.tag, right.counter)
    }

    /// The first place at which a condition no longer holds that holds for a beginning.
    static func partition(_ count: Int, _ holds: (Int) -> Bool) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if holds(middle) { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
