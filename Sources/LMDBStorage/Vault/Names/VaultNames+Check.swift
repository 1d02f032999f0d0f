import EventLog
import LMDB

extension VaultNames {
    /// Counts the streams, each of which is there, has its name, and is found by it.
    func countAgreeing() throws -> UInt64 {
        // Before the vault: what is not new any more stands there.
        let new = try newStreams()
        return try environment.read { transaction in
            let covered = try cover(transaction).last
            var (counter, sum) = (UInt64(0), UInt64(0))
            try transaction.scan(streams, from: nil) { key, value in
                counter += 1
                guard key.count == 8,
                    StreamNumber.counter(of: key.loadUInt64BigEndian(at: 0)) == counter
                else { throw LogStorageFault(.damaged, "a stream is missing from the vault") }
                let stream = key.loadUInt64BigEndian(at: 0)
                let digest = try VaultEntry.checkedDigest(of: value, stream: stream)
                if let digest, stream <= covered {
                    sum &+= Self.fingerprint(
                        Name(digest, shard: StreamNumber.shard(of: stream)),
                        stream
                    )
                }
                return true
            }
            // Fits: a counter has 52 bits.
            for stream in new where StreamNumber.counter(of: stream) == counter + 1 {
                counter += 1
            }
            guard counter >= highestCounter else {
                throw LogStorageFault(.damaged, "streams that the log names are not in the vault")
            }
            guard !hasOlderTable || !isReadOnly else { return counter }
            try transaction.scan(names, from: nil) { key, value in
                guard key.count == 16 else { return true }
                let (name, stream) = (Name(key), value.count == 8 ? value.uint64(at: 0) : 0)
                sum &-= Self.fingerprint(name, stream)
                let found = try transaction.get(names, name.key) { value in
                    value.count == 8 ? value.uint64(at: 0) : 0
                }
                guard found == stream else {
                    throw LogStorageFault(.damaged, "a name of the vault is not found")
                }
                return true
            }
            guard sum == 0 else {
                throw LogStorageFault(.damaged, "the vault's names are not those of its streams")
            }
            return counter
        }
    }

    private static func fingerprint(_ name: Name, _ stream: UInt64) -> UInt64 {
        fingerprint(name.high, name.low, stream)
    }
}
