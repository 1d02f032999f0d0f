import Encodings
import EventLog
import LMDB

extension VaultNames {
    /// A name in the table: its shard, then its digest without the last bits of the first half.
    struct Name: Comparable {
        var high: UInt64
        var low: UInt64

        init(_ digest: SignalDigest, shard: Int) {
            high = Self.first(of: shard).high | digest.high >> StreamNumber.shardBits
            low = digest.low
        }

        init(_ key: Span<UInt8>) {
            (high, low) = (key.loadUInt64BigEndian(at: 0), key.loadUInt64BigEndian(at: 8))
        }

        private init(high: UInt64) { (self.high, low) = (high, 0) }

        /// Before all names of a shard.
        static func first(of shard: Int) -> Name {
            Name(high: UInt64(shard) << (UInt64(UInt64.bitWidth) - StreamNumber.shardBits))
        }

        var shard: Int { Int(high >> (UInt64(UInt64.bitWidth) - StreamNumber.shardBits)) }
        var key: Key { Key(high, low) }

        static func < (left: Name, right: Name) -> Bool {
            (left.high, left.low) < (right.high, right.low)
        }
    }
}

extension VaultNames {
    /// A number for what stands together in a table: sums of them differ where sets do.
    ///
    /// The finalizer of SplitMix64, prng.di.unimi.it/splitmix64.c.
    static func fingerprint(_ first: UInt64, _ second: UInt64, _ third: UInt64) -> UInt64 {
        var word = first ^ (second &* 0x9E37_79B9_7F4A_7C15) ^ third
        word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
        word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
        return word ^ (word >> 31)
    }
}
