package import Crypto
import Dispatch
package import EventLog
import LMDB
import Synchronization

/// Names and keys in one synchronous LMDB environment.
///
/// Tables: `streams` (stream number → sealed entry or tombstone), in the order of
/// the counters, `names`, which is derived from it (``VaultNames``), and `identifiers`, which is
/// derived from the log (``VaultIdentifiers``).
package final class LMDBVault: Vault {
    let environment: LMDB.Environment
    let streams: Table
    let names: VaultNames
    let identifiers: VaultIdentifiers
    /// Where streams are new.
    let log: LMDBLog
    /// The log's when the vault was opened: streams up to it must be there.
    let highestCounter: UInt64
    let isReadOnly: Bool
    /// For who only reads: names of streams that are new in the log.
    private let newNames: NewStreamNames
    let keyFile: EpochKeyFile
    /// Those that the vault is sealed under.
    private let currentEpochs: Mutex<EpochKeys>
    private let shardSecret: KeyedHash
    let state: Mutex<State>
    /// How often reserved streams were given up; counted while `state` is held.
    let surrenderCount = Atomic<UInt64>(0)
    /// Held while reserved streams become durable with a commit of the log, or some go; `state` is
    /// free meanwhile.
    let turn: Mutex<Turn>
    /// Held, within a turn or beside one, while the vault's files are written.
    let writer: Mutex<Writer>
    /// Where new streams are taken over, behind whoever writes.
    let following = DispatchQueue(label: "entitlement-ledger.vault.streams")
    let clock: @Sendable () -> Int64
    /// Where the journal is written anew, behind whoever writes.
    let compacting = DispatchQueue(label: "entitlement-ledger.vault.journal")
    let path: String
    /// Whether the last writer was stopped: what it wrote last may not stand in the journal.
    let wasStopped: Bool
    /// nil: nothing is written to them.
    let files: EnvironmentFiles?
    /// Where an erasure is noted until it is finished.
    let notePath: String

    /// What is kept in memory.
    struct State {
        /// Ascending by counter; they wait for the commit that first uses one of them.
        var reserved: [VaultEntry] = []
        /// Of names whose streams the tables do not hold: those that are reserved, and those that
        /// wait.
        var newNumbers: [StreamName: UInt64] = [:]
        var numbers: [StreamName: UInt64] = [:]
        var keys: [UInt64: StreamKeys] = [:]
        /// Those that stand in the log and are to be taken over.
        var waiting = WaitingStreams()
        /// Whether it is looked for them a moment later.
        var isFollowing = false
        var isClosed = false
        /// Streams that have neither name nor keys any more, whatever the tables say.
        var closed: Set<UInt64> = []
        var nextCounter: UInt64
        var randomness: RandomSource
    }

    struct Turn {
        var randomness: RandomSource
        /// What was prepared and neither finished nor cancelled.
        var erasure: VaultErasure?
        /// Whether its keys are destroyed; what else it deletes may stand yet.
        var areKeysDestroyed = false
        /// Where a cluster's erasures are written first; nil: the vault is one machine's.
        var journal: (any ErasureJournal)?
        /// Whether reserved streams may stand in the log, after a commit that failed.
        var isInDoubt = false
    }

    struct Writer {
        var journal: VaultJournal?
        var randomness: RandomSource
    }

    /// Entries that are kept in memory of each kind.
    fileprivate static let cacheLimit = 1 << 16

    /// See `Vault`.
    package let checkpointKey: Curve25519.Signing.PrivateKey
    /// See `Vault`.
    package let digestSecret: KeyedHash

    /// Opens the vault in a directory that exists.
    ///
    /// `log`: the ledger's, whose streams must all be there, or are new in it.
    init(
        path: String,
        keyFile: EpochKeyFile,
        log: LMDBLog,
        isReadOnly: Bool,
        mapSize: Int = MapSize.usual,
        wasStopped: Bool = false,
        clock: @escaping @Sendable () -> Int64,
        randomness: RandomSource
    ) throws {
        let epochKeys = try keyFile.read()
        self.keyFile = keyFile
        self.clock = clock
        self.path = path
        self.log = log
        self.isReadOnly = isReadOnly
        self.wasStopped = wasStopped
        newNames = NewStreamNames(log)
        highestCounter = try log.end().highestCounter
        notePath = path + "/" + ErasureNote.fileName
        digestSecret = KeyedHash(epochKeys.digestSecret)
        shardSecret = KeyedHash(epochKeys.shardSecret)
        checkpointKey = try Curve25519.Signing.PrivateKey(
            rawRepresentation: epochKeys.checkpointKey
        )
        let (environment, streams) = try mappingRefusals {
            try Self.opened(path, isReadOnly: isReadOnly, mapSize: mapSize)
        }
        (self.environment, self.streams) = (environment, streams)
        files = isReadOnly ? nil : EnvironmentFiles(at: path)
        let names = try mappingFaults { [highestCounter] in
            try VaultNames(
                environment: environment,
                streams: streams,
                highestCounter: highestCounter,
                newStreams: { try Self.checkedNewStreams(of: log) },
                generation: epochKeys.first,
                isReadOnly: isReadOnly
            )
        }
        self.names = names
        identifiers = try mappingFaults {
            try VaultIdentifiers(environment: environment, isReadOnly: isReadOnly)
        }
        let current = try keyFile.current(epochKeys, of: names)
        currentEpochs = Mutex(current)
        let waiting =
            isReadOnly
            ? [] : try Self.waiting(in: log, beside: streams, of: environment, current)
        let last = max(names.last, waiting.last?.stream ?? 0)
        let counter = max(highestCounter, StreamNumber.counter(of: last))
        state = Mutex(State(nextCounter: counter + 1, randomness: randomness))
        turn = Mutex(Turn(randomness: randomness, erasure: try ErasureNote.read(notePath)))
        writer = Mutex(
            Writer(
                journal: isReadOnly
                    ? nil : try VaultJournal(path: path + "/" + VaultJournal.fileName),
                randomness: randomness
            )
        )
        if wasStopped || journalIsEmpty {
            // Where the disk takes nothing, say, an audit tells.
            try? completeJournal()
        }
        begin(with: waiting)
    }

    private static func opened(
        _ path: String,
        isReadOnly: Bool,
        mapSize: Int
    ) throws -> (LMDB.Environment, Table) {
        let environment = try LMDB.Environment(
            path: path,
            options: .init(mapSize: mapSize, isReadOnly: isReadOnly, isMended: true)
        )
        guard let streams = try environment.table("streams", create: !isReadOnly) else {
            throw LogStorageFault(.damaged, "the vault has no table of streams")
        }
        return (environment, streams)
    }

    /// Takes over what an earlier process left in the log.
    private func begin(with waiting: [WaitingStreams.Item]) {
        guard !waiting.isEmpty else { return }
        state.withLock { state in
            state.waiting.add(waiting)
            state.closed.formUnion(waiting.filter(\.isErased).map(\.stream))
            for case let entry? in waiting.lazy.map(\.entry) {
                state.newNumbers[entry.name] = entry.stream
            }
        }
        // What a disk does not take now is tried again.
        try? takeOver()
        followBehind()
    }

    /// The epoch keys that the vault is sealed under.
    var epochs: EpochKeys { currentEpochs.withLock { $0 } }

    func use(_ keys: EpochKeys) { currentEpochs.withLock { $0 = keys } }

    /// How often something is read again whose epoch keys were rotated meanwhile.
    private static let attempts = 8

    /// Reads with the epoch keys of the moment, again where they were rotated meanwhile.
    ///
    /// `body`: nil where it met another generation.
    func reading<Answer>(_ body: (EpochKeys) throws -> Answer?) throws -> Answer {
        for _ in 0..<Self.attempts {
            let epochs = epochs
            if let answer = try mappingFaults({ try body(epochs) }) { return answer }
            try renewEpochs(after: epochs.generation)
        }
        throw LogStorageFault(.damaged, "an entry of the vault does not open")
    }

    /// Waits for this process to finish a rotation, or takes up one of another process.
    private func renewEpochs(after generation: UInt64) throws {
        try writer.withLock { _ in
            guard epochs.generation == generation else { return }
            let stands = try mappingFaults { try names.generation() }
            if stands == generation { return }
            if let keys = try keyFile.read().keys(of: stands) { use(keys) }
        }
    }

    /// Syncs the journal and ends the use of the environment.
    ///
    /// What was not drawn in waits in the log for the next opening.
    package func close() {
        state.withLock { $0.isClosed = true }
        writer.withLock { $0.journal = nil }
        compacting.sync {}
        names.finish()
        environment.close()
    }

    // MARK: Names

    /// See `Vault`.
    package func stream(of name: StreamName) throws -> UInt64? {
        if let known = state.withLock({ $0.number(of: name) }) { return known }
        let found: VaultEntry? = try reading { epochs in try entry(of: name, epochs) }
        guard let found else { return nil }
        return state.withLock { $0.remember(found, of: name) }
    }

    /// The entry that a name leads to, `.some(nil)` where it leads nowhere; nil: the epoch keys were
    /// rotated meanwhile.
    ///
    /// It is believed only where the entry's own digest and name are those asked for: a damaged table
    /// would answer with somebody else (Storage, "Vault and erasure").
    private func entry(of name: StreamName, _ epochs: EpochKeys) throws -> VaultEntry?? {
        let shard = name.shard(under: shardSecret)
        let digest = epochs.digest(of: name, shard: shard)
        let new = try isReadOnly ? newNames.stream(of: digest) : nil
        let found =
            try new.map { .stream($0) }
            ?? names.stream(of: digest, shard: shard, generation: epochs.generation)
        guard case .stream(let stream) = found else { return found == .none ? .some(nil) : nil }
        // Whose name is being freed has no stream.
        if closedStreams.contains(stream) { return .some(nil) }
        guard let entry = try self.entry(of: stream, epochs) else { return nil }
        if let entry, entry.digest == digest, entry.name == name { return entry }
        // An erasure may have come between the two.
        if entry == nil, try closedStreams.contains(stream) || isOutdated(epochs) { return nil }
        throw LogStorageFault(.damaged, "a name of the vault leads to another stream")
    }

    /// Whether the vault is sealed under other epoch keys by now.
    func isOutdated(_ epochs: EpochKeys) throws -> Bool {
        guard let stands = try names.generation() else { return false }
        return stands != epochs.generation
    }

    /// See `Vault`.
    package func reserveStream(of name: StreamName) throws -> UInt64 {
        if let known = try stream(of: name) { return known }
        let shard = name.shard(under: shardSecret)
        return state.withLock { state in
            // Another thread may have been faster.
            state.number(of: name) ?? state.reserve(name, shard: shard)
        }
    }

    // MARK: Streams

    /// See `Vault`.
    package func name(of stream: UInt64) throws -> StreamName? {
        try entry(of: stream)?.name
    }

    /// See `Vault`.
    package func keys(of stream: UInt64) throws -> StreamKeys? {
        let surrenders = surrenders
        if let known = state.withLock({ $0.keys[stream] }) { return known }
        guard let entry = try entry(of: stream) else { return nil }
        let keys = StreamKeys(SymmetricKey(data: entry.key))
        return state.withLock { state in
            // It may have been closed while it was read.
            guard !state.closed.contains(stream) else { return nil }
            // Or given up: another stream may have its number.
            guard self.surrenders == surrenders else { return keys }
            if state.keys.count >= Self.cacheLimit { state.keys = [:] }
            state.keys[stream] = keys
            return keys
        }
    }

    private func entry(of stream: UInt64) throws -> VaultEntry? {
        let (isClosed, known) = state.withLock {
            ($0.closed.contains(stream), $0.reserved(stream) ?? $0.waiting.entry(of: stream))
        }
        if isClosed { return nil }
        if let known { return known }
        let found: VaultEntry? = try reading { epochs in try entry(of: stream, epochs) }
        return found
    }

    /// See `Vault`.
    @discardableResult
    package func check() throws -> UInt64 {
        try mappingFaults {
            let count = try names.check()
            try checkJournal()
            return count
        }
    }
}

extension LMDBVault.State {
    fileprivate func number(of name: StreamName) -> UInt64? {
        numbers[name] ?? newNumbers[name]
    }

    /// Keeps what was found of a name; nil where it was closed while it was looked up.
    fileprivate mutating func remember(_ entry: VaultEntry, of name: StreamName) -> UInt64? {
        guard !closed.contains(entry.stream) else { return nil }
        if numbers.count >= LMDBVault.cacheLimit { numbers = [:] }
        numbers[name] = entry.stream
        return entry.stream
    }

    fileprivate mutating func reserve(_ name: StreamName, shard: Int) -> UInt64 {
        let number = StreamNumber.number(counter: nextCounter, shard: shard)
        nextCounter += 1
        reserved.append(
            VaultEntry(
                stream: number,
                digest: SignalDigest(high: 0, low: 0),
                name: name,
                key: randomness.bytes(StreamKeys.byteCount)
            )
        )
        newNumbers[name] = number
        return number
    }

    /// Those that wait, up to a counter.
    func reserved(upTo counter: UInt64) -> ArraySlice<VaultEntry> {
        reserved.prefix { StreamNumber.counter(of: $0.stream) <= counter }
    }

    fileprivate func reserved(_ stream: UInt64) -> VaultEntry? {
        // Counters are given one by one: the place follows from the number.
        guard let first = reserved.first else { return nil }
        let counter = StreamNumber.counter(of: stream)
        let offset = counter &- StreamNumber.counter(of: first.stream)
        guard offset < UInt64(reserved.count), reserved[Int(offset)].stream == stream else {
            return nil
        }
        return reserved[Int(offset)]
    }

    /// Has those wait that have become durable, which are the first.
    mutating func settle(_ items: [WaitingStreams.Item]) {
        reserved.removeFirst(items.count)
        waiting.add(items)
    }

    /// Forgets the first that wait, which the tables hold by now.
    mutating func forgetWaiting(_ count: Int) {
        for case let entry? in waiting.items.prefix(count).lazy.map(\.entry) {
            // A name that was freed meanwhile may be reserved for another stream.
            guard newNumbers[entry.name] == entry.stream else { continue }
            newNumbers[entry.name] = nil
            _ = remember(entry, of: entry.name)
        }
        waiting.removeFirst(count)
    }
}
