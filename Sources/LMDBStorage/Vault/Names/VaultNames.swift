import Dispatch
import Encodings
import EventLog
import LMDB
import Synchronization

/// Finds streams by the digests of their names.
///
/// The entries of `streams` hold the digests, in the order of their counters. The table `names`
/// (shard and digest → stream) is derived from them and follows in sorted batches, so that a commit
/// of new streams writes at the end of one table only, and the streams of a shard stand together.
/// Under a key of 8 bytes, which no name has, it holds the last stream that it covers and the
/// generation of the epoch keys that the vault is sealed under. What is beyond stands in memory, and
/// is read back from `streams` where the vault is opened.
final class VaultNames: Sendable {
    let environment: LMDB.Environment
    let streams: Table
    let names: Table
    let highestCounter: UInt64
    let newStreams: @Sendable () throws -> [UInt64]
    let isReadOnly: Bool
    private let recent: Mutex<Recent>
    private let queue = DispatchQueue(label: "entitlement-ledger.vault.names")
    /// Whether the table was made before names stood by their shards; a writer makes it anew.
    let hasOlderTable: Bool
    /// What a check found since they were opened; nil: nobody has checked.
    private let checked = Mutex<Result<Void, LogStorageFault>?>(nil)
    /// Held by the thread that checks for all.
    private let checking = Mutex<Void>(())

    /// Streams that the table of names does not hold yet.
    private struct Recent {
        var numbers: [SignalDigest: UInt64] = [:]
        /// The last stream that the table or `numbers` holds.
        var last: UInt64
        /// For who only reads: the last stream that the table had when it was looked at.
        var covered: UInt64 = 0
        /// Whether a batch is on its way into the table.
        var isFollowing = false
        /// Generation of the digests' epoch keys; only a writer's own erasures change it.
        var generation: UInt64

        /// Forgets what another process has moved into the table.
        mutating func forget(upTo last: UInt64) {
            guard last > covered else { return }
            covered = last
            numbers = numbers.filter { $0.value > last }
        }
    }

    /// Names that wait in memory before they go into the table together: a sixteenth of what it holds.
    ///
    /// They fall anywhere in it, so that a batch rewrites nearly all of its pages: so each name costs
    /// as much in a large table as in a small one.
    private static func batchLimit(beside covered: UInt64) -> UInt64 {
        min(max(covered / 16, batchMinimum), batchMaximum)
    }
    private static let batchMinimum: UInt64 = 1 << 13
    /// Names that a process keeps at most, and reads back where the vault is opened.
    private static let batchMaximum: UInt64 = 1 << 17
    private static let coverKey = Key(0)
    private static let olderCoverCount = 8

    /// What stands under the key of 8 bytes: last stream u64, generation u64.
    struct Cover {
        var last: UInt64
        /// nil: nobody has written one yet.
        var generation: UInt64?
    }

    /// `highestCounter`: of a stream that the log names.
    ///
    /// `newStreams`: those that are to be taken over from it, ascending.
    ///
    /// `generation`: of a vault that was just made.
    init(
        environment: LMDB.Environment,
        streams: Table,
        highestCounter: UInt64 = 0,
        newStreams: @escaping @Sendable () throws -> [UInt64] = { [] },
        generation: UInt64 = 0,
        isReadOnly: Bool
    ) throws {
        guard let names = try environment.table("names", create: !isReadOnly) else {
            throw LogStorageFault(.damaged, "the vault has no table of names")
        }
        self.environment = environment
        self.streams = streams
        self.names = names
        self.highestCounter = highestCounter
        self.newStreams = newStreams
        self.isReadOnly = isReadOnly
        recent = Mutex(Recent(last: 0, generation: generation))
        hasOlderTable = try environment.read { transaction in
            try transaction.get(names, Self.coverKey) { $0.count == Self.olderCoverCount } ?? false
        }
        if hasOlderTable, !isReadOnly { try environment.write { try $0.clear(names) } }
        try environment.read { transaction in
            let cover = try cover(transaction)
            // Counters go on behind it: a damaged one would leave a gap for ever.
            let isThere = try transaction.get(streams, Key(cover.last)) { _ in true } ?? false
            guard isThere || cover.last == 0 else {
                throw LogStorageFault(.damaged, "the vault's names cover a stream that is missing")
            }
            recent.withLock { recent in
                recent.last = cover.last
                if let known = cover.generation { recent.generation = known }
            }
            try readOn(transaction)
        }
        followBehind()
    }

    /// The last stream that has a name; 0 if there is none.
    var last: UInt64 { recent.withLock { $0.last } }

    /// What a look-up comes to.
    enum Found: Equatable {
        case stream(UInt64)
        case none
        /// The table is of another generation than the digest, or a newer one is there: the epoch keys are
        /// to be read again, and then it.
        case otherGeneration
    }

    /// The stream of a name.
    ///
    /// `generation`: of the epoch key under which the digest was made.
    ///
    /// What is found is to be held against the stream's entry, which names itself. A damaged table
    /// may lack a name, and LMDB would not say so: the first time that none is found, everything is
    /// checked.
    func stream(of digest: SignalDigest, shard: Int, generation: UInt64) throws -> Found {
        if let number = recent.withLock({ $0.numbers[digest] }) { return .stream(number) }
        let known = checked.withLock { $0 }
        let found = try lookUp(digest, shard, generation)
        guard found == .none else { return found }
        if let known {
            try known.get()
            return .none
        }
        try checkOnce()
        // A large vault is checked for a while, in which others add names.
        return try lookUp(digest, shard, generation)
    }

    /// Checks everything where that was not done since it was opened; what it found stays.
    ///
    /// Whoever comes meanwhile waits for the thread that does it.
    func checkOnce() throws {
        if let known = checked.withLock({ $0 }) { return try known.get() }
        try checking.withLock { _ in
            guard checked.withLock({ $0 == nil }) else { return }
            try check()
        }
        try checked.withLock({ $0 })?.get()
    }

    private func lookUp(
        _ digest: SignalDigest,
        _ shard: Int,
        _ generation: UInt64
    ) throws -> Found {
        try environment.read { transaction in
            let found = try transaction.get(names, Name(digest, shard: shard).key) { value in
                value.count == 8 ? value.uint64(at: 0) : 0
            }
            if let found, found != 0 { return .stream(found) }
            var covered = UInt64.max
            if isReadOnly {
                // Another process may have rotated the keys, or added the name.
                let cover = try cover(transaction)
                covered = cover.last
                let current = cover.generation ?? generation
                let known = recent.withLock { recent in
                    if recent.generation != current {
                        (recent.numbers, recent.last) = ([:], cover.last)
                        recent.generation = current
                    }
                    recent.forget(upTo: cover.last)
                    return recent.generation
                }
                guard known == generation else { return .otherGeneration }
                try readOn(transaction)
            }
            // A rotation whose commit seemed to fail may stand.
            let stands = try isReadOnly ? nil : cover(transaction).generation
            return recent.withLock { recent in
                recent.generation = max(recent.generation, stands ?? 0)
                guard recent.generation == generation else { return .otherGeneration }
                // What another thread has forgotten meanwhile stands in a newer state of the table.
                guard recent.covered <= covered else { return .otherGeneration }
                return recent.numbers[digest].map { .stream($0) } ?? .none
            }
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

    /// Checks that every stream is there and whole, that the names are those of the streams, and
    /// that each is found: a damaged branch leads past names that a scan still meets.
    ///
    /// Counters are given without gaps, so a stream that is missing shows.
    ///
    /// - Returns: how many streams there are.
    /// - Throws: `LogStorageFault.damaged`. Cost: one pass over streams and names, and a look-up of
    ///   each name in their order.
    @discardableResult
    func check() throws -> UInt64 {
        do {
            let count = try mappingFaults { try countAgreeing() }
            checked.withLock { $0 = .success(()) }
            return count
        } catch let fault as LogStorageFault where fault.code == .damaged {
            checked.withLock { $0 = .failure(fault) }
            throw fault
        }
    }

    func cover<Transaction: ReadableTransaction & ~Copyable>(
        _ transaction: borrowing Transaction
    ) throws -> Cover {
        try transaction.get(names, Self.coverKey) { value in
            guard value.count == 16 else { return Cover(last: 0, generation: nil) }
            return Cover(last: value.uint64(at: 0), generation: value.uint64(at: 8))
        } ?? Cover(last: 0, generation: nil)
    }

    /// The generation of the epoch keys that the vault is sealed under; nil: it was just made.
    func generation() throws -> UInt64? {
        try environment.read { try cover($0).generation }
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
            let waiting = UInt64(recent.numbers.count)
            let covered = StreamNumber.counter(of: recent.last)
            guard !recent.isFollowing, waiting >= Self.batchLimit(beside: covered) else {
                return false
            }
            recent.isFollowing = true
            return true
        }
        guard begins else { return }
        queue.async { [self] in
            // What does not get there waits on: nothing depends on it.
            try? moveBatch()
            recent.withLock { $0.isFollowing = false }
        }
    }

    private func moveBatch() throws {
        let recent = recent.withLock { $0 }
        let sorted = recent.numbers.map { digest, stream in
            (name: Name(digest, shard: StreamNumber.shard(of: stream)), stream: stream)
        }.sorted { $0.name < $1.name }
        try environment.write(growingBy: MapSize.growth) { transaction in
            for (name, stream) in sorted { try put(stream, of: name, transaction) }
            try put(Cover(last: recent.last, generation: recent.generation), transaction)
        }
        // Whoever looks meanwhile finds a name in both places, never in none.
        self.recent.withLock { current in
            for (digest, stream) in recent.numbers where current.numbers[digest] == stream {
                current.numbers[digest] = nil
            }
        }
    }

    /// The names of a shard and their streams, of those that the table covers.
    func streams<Transaction: ReadableTransaction & ~Copyable>(
        of shard: Int,
        _ transaction: borrowing Transaction
    ) throws -> [(name: Name, stream: UInt64)] {
        var found: [(name: Name, stream: UInt64)] = []
        try transaction.scan(names, from: Name.first(of: shard).key) { key, value in
            // The mark of what is covered stands among the names of the first shard.
            guard key.count == 16, value.count == 8 else { return true }
            let name = Name(key)
            guard name.shard == shard else { return false }
            found.append((name, value.uint64(at: 0)))
            return true
        }
        return found
    }

    func put(
        _ stream: UInt64,
        of name: Name,
        _ transaction: borrowing WriteTransaction
    ) throws {
        try transaction.reserve(names, name.key, count: 8, appending: false) {
            $0.storeUInt64(stream, at: 0)
        }
    }

    func put(_ cover: Cover, _ transaction: borrowing WriteTransaction) throws {
        try transaction.reserve(names, Self.coverKey, count: 16, appending: false) {
            $0.storeUInt64(cover.last, at: 0)
            $0.storeUInt64(cover.generation ?? 0, at: 8)
        }
    }

    // MARK: Another generation

    /// Whether names and streams are of a generation by what the file says, which then counts.
    func isRotated(to generation: UInt64) throws -> Bool {
        guard try self.generation() == generation else { return false }
        recent.withLock { $0.generation = generation }
        return true
    }

    /// Changes the epoch keys that digests are made under, with everything that depends on them.
    ///
    /// `body`: writes streams and names of the next generation in one transaction. From the moment
    /// before its commit a look-up by a digest of the generation before is sent back.
    ///
    /// Only for who keeps others from adding streams meanwhile.
    func rotate(
        to generation: UInt64,
        _ body: (borrowing WriteTransaction) throws -> Void
    ) throws {
        finish()
        try moveBatch()
        let before = recent.withLock { recent in
            defer { recent.generation = generation }
            return recent.generation
        }
        do {
            try environment.write(growingBy: MapSize.growth) { transaction in
                try body(transaction)
                try put(Cover(last: last, generation: generation), transaction)
            }
        } catch {
            // A commit that failed may stand: what the file says counts, once it can be read.
            let stands = (try? self.generation()) ?? before
            recent.withLock { $0.generation = stands }
            throw error
        }
    }
}
