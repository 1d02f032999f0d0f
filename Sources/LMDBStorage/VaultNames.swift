import Dispatch
import EventLog
import LMDB
import Synchronization

/// Finds streams by the digests of their names.
///
/// The entries of `streams` hold the digests, in the order of their counters. The table `names`
/// (digest → stream) is derived from them and follows in sorted batches, so that a commit of new
/// streams writes at the end of one table only. Under a key of 8 bytes, which no digest is, it holds
/// the last stream that it covers. What is beyond stands in memory, and is read back from `streams`
/// where the vault is opened.
final class VaultNames: Sendable {
    private let environment: LMDB.Environment
    private let streams: Table
    private let names: Table
    private let highestCounter: UInt64
    private let isReadOnly: Bool
    private let recent: Mutex<Recent>
    private let queue = DispatchQueue(label: "entitlement-ledger.vault.names")
    /// Whether streams and names were found to agree since they were opened.
    private let isChecked = Atomic(false)

    /// Streams that the table of names does not hold yet.
    private struct Recent {
        var numbers: [SignalDigest: UInt64] = [:]
        /// The last stream that the table or `numbers` holds.
        var last: UInt64
        /// Whether a batch is on its way into the table.
        var isFollowing = false
    }

    /// Names that wait in memory before they go into the table together.
    private static let batchLimit = 1 << 13
    private static let coveredKey = Key(0)

    /// `highestCounter`: of a stream that the log names.
    init(
        environment: LMDB.Environment,
        streams: Table,
        highestCounter: UInt64 = 0,
        isReadOnly: Bool
    ) throws {
        guard let names = try environment.table("names", create: !isReadOnly) else {
            throw LogStorageFault(.damaged, "the vault has no table of names")
        }
        self.environment = environment
        self.streams = streams
        self.names = names
        self.highestCounter = highestCounter
        self.isReadOnly = isReadOnly
        recent = Mutex(Recent(last: 0))
        try environment.read { transaction in
            let covered = try covered(transaction)
            recent.withLock { $0.last = covered }
            try readOn(transaction)
        }
        followBehind()
    }

    /// The last stream that has a name; 0 if there is none.
    var last: UInt64 { recent.withLock { $0.last } }

    /// The stream of a name; nil if there is none.
    ///
    /// A damaged table may lack a name, and LMDB would not say so: the first time that none is
    /// found, everything is checked.
    func stream(of digest: SignalDigest) throws -> UInt64? {
        if let number = recent.withLock({ $0.numbers[digest] }) { return number }
        if let found = try lookUp(digest) { return found }
        if !isChecked.load(ordering: .acquiring) { try check() }
        return nil
    }

    private func lookUp(_ digest: SignalDigest) throws -> UInt64? {
        try environment.read { transaction in
            let found = try transaction.get(names, Key(digest.high, digest.low)) { value in
                value.count == 8 ? value.uint64(at: 0) : 0
            }
            if let found { return found == 0 ? nil : found }
            guard isReadOnly else { return nil }
            // Another process may have added it.
            try readOn(transaction)
            return recent.withLock { $0.numbers[digest] }
        }
    }

    /// Adds streams that have just become durable, ascending.
    func add(_ entries: some Collection<VaultEntry>) {
        recent.withLock { recent in
            for entry in entries {
                recent.numbers[entry.digest] = entry.stream
                recent.last = max(recent.last, entry.stream)
            }
        }
        followBehind()
    }

    /// Checks that every stream is there and whole, and that the names are those of the streams.
    ///
    /// Counters are given without gaps, so a stream that is missing shows.
    ///
    /// - Throws: `LogStorageFault.damaged`. Cost: one pass over streams and names, about 0.3 µs each.
    func check() throws {
        try environment.read { transaction in
            let covered = try covered(transaction)
            var (counter, sum) = (UInt64(0), UInt64(0))
            try transaction.scan(streams, from: nil) { key, value in
                counter += 1
                guard key.count == 8,
                    StreamNumber.counter(of: key.loadUInt64BigEndian(at: 0)) == counter
                else { throw LogStorageFault(.damaged, "a stream is missing from the vault") }
                let stream = key.loadUInt64BigEndian(at: 0)
                let digest = try VaultEntry.checkedDigest(of: value, stream: stream)
                if let digest, stream <= covered { sum &+= Self.fingerprint(digest, stream) }
                return true
            }
            guard counter >= highestCounter else {
                throw LogStorageFault(.damaged, "streams that the log names are not in the vault")
            }
            try transaction.scan(names, from: nil) { key, value in
                guard key.count == 16 else { return true }
                let digest = SignalDigest(
                    high: key.loadUInt64BigEndian(at: 0),
                    low: key.loadUInt64BigEndian(at: 8)
                )
                sum &-= Self.fingerprint(digest, value.count == 8 ? value.uint64(at: 0) : 0)
                return true
            }
            guard sum == 0 else {
                throw LogStorageFault(.damaged, "the vault's names are not those of its streams")
            }
        }
        isChecked.store(true, ordering: .releasing)
    }

    /// A number for a pair of digest and stream: sums of them differ where sets do.
    ///
    /// The finalizer of SplitMix64, prng.di.unimi.it/splitmix64.c.
    private static func fingerprint(_ digest: SignalDigest, _ stream: UInt64) -> UInt64 {
        var word = digest.high ^ (digest.low &* 0x9E37_79B9_7F4A_7C15) ^ stream
        word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
        word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
        return word ^ (word >> 31)
    }

    /// The last stream that the table of names covers.
    private func covered(_ transaction: borrowing ReadTransaction) throws -> UInt64 {
        try transaction.get(names, Self.coveredKey) { $0.count == 8 ? $0.uint64(at: 0) : 0 } ?? 0
    }

    /// Waits for a batch that is on its way into the table.
    func finish() { queue.sync {} }

    /// Reads the streams behind the last one known.
    private func readOn(_ transaction: borrowing ReadTransaction) throws {
        try recent.withLock { recent in
            guard recent.last < .max else { return }
            try transaction.scan(streams, from: Key(recent.last + 1)) { key, value in
                guard key.count == 8 else {
                    throw LogStorageFault(.damaged, "a stream's key is not a number")
                }
                let stream = key.loadUInt64BigEndian(at: 0)
                guard stream > recent.last else {
                    throw LogStorageFault(.damaged, "the vault's streams do not ascend")
                }
                recent.last = stream
                // An erased stream has no name.
                if let digest = try VaultEntry.checkedDigest(of: value, stream: stream) {
                    recent.numbers[digest] = stream
                }
                return true
            }
        }
    }

    /// Moves the names that wait into the table, once they are many, behind whoever writes.
    ///
    /// What does not get there, because a disk is full say, waits on: nothing depends on it.
    private func followBehind() {
        guard !isReadOnly else { return }
        let begins = recent.withLock { recent in
            guard !recent.isFollowing, recent.numbers.count >= Self.batchLimit else { return false }
            recent.isFollowing = true
            return true
        }
        guard begins else { return }
        queue.async { [self] in
            try? moveBatch()
            recent.withLock { $0.isFollowing = false }
        }
    }

    private func moveBatch() throws {
        let (batch, last) = recent.withLock { ($0.numbers, $0.last) }
        let sorted = batch.sorted { $0.key < $1.key }
        try environment.write { transaction in
            for (digest, stream) in sorted {
                try transaction.reserve(
                    names,
                    Key(digest.high, digest.low),
                    count: 8,
                    appending: false
                ) { $0.storeUInt64(stream, at: 0) }
            }
            try transaction.reserve(names, Self.coveredKey, count: 8, appending: false) {
                $0.storeUInt64(last, at: 0)
            }
        }
        // Whoever looks meanwhile finds a name in both places, never in none.
        recent.withLock { recent in
            for digest in batch.keys { recent.numbers[digest] = nil }
        }
    }
}
