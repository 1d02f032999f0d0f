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
