package import Crypto
import Dispatch
package import EventLog
import LMDB
import Synchronization

/// Names and keys in one synchronous LMDB environment.
///
/// Tables: `streams` (stream number → sealed entry or tombstone), in the order of
/// the counters, and `names`, which is derived from it (``VaultNames``).
package final class LMDBVault: Vault {
    let environment: LMDB.Environment
    let streams: Table
    let names: VaultNames
    /// The log's when the vault was opened: streams up to it must be there.
    let highestCounter: UInt64
    let keyFile: EpochKeyFile
    /// Those that the vault is sealed under.
    private let currentEpochs: Mutex<EpochKeys>
    private let shardSecret: KeyedHash
    let state: Mutex<State>
    /// Held while reserved streams become durable, or some go; `state` is free meanwhile.
    let writer: Mutex<Writer>
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
        var reservedNumbers: [StreamName: UInt64] = [:]
        var numbers: [StreamName: UInt64] = [:]
        var keys: [UInt64: StreamKeys] = [:]
        /// Streams that have neither name nor keys any more, whatever the tables say.
        var closed: Set<UInt64> = []
        var nextCounter: UInt64
        var randomness: RandomSource
    }

    struct Writer {
        var journal: VaultJournal?
        var randomness: RandomSource
        /// What was prepared and neither finished nor cancelled.
        var erasure: VaultErasure?
    }

    /// Entries that are kept in memory of each kind.
    fileprivate static let cacheLimit = 1 << 16

    /// See `Vault`.
    package let checkpointKey: Curve25519.Signing.PrivateKey
    /// See `Vault`.
    package let digestSecret: KeyedHash

    /// Opens the vault in a directory that exists.
    ///
    /// `highestCounter`: the log's, whose streams must all be there.
    init(
        path: String,
        keyFile: EpochKeyFile,
        isReadOnly: Bool,
        mapSize: Int = MapSize.usual,
        highestCounter: UInt64,
        wasStopped: Bool = false,
        clock: @escaping @Sendable () -> Int64,
        randomness: RandomSource
    ) throws {
        let epochKeys = try keyFile.read()
        self.keyFile = keyFile
        self.clock = clock
        self.path = path
        self.wasStopped = wasStopped
        notePath = path + "/" + ErasureNote.fileName
        digestSecret = KeyedHash(epochKeys.digestSecret)
        shardSecret = KeyedHash(epochKeys.shardSecret)
        checkpointKey = try Curve25519.Signing.PrivateKey(
            rawRepresentation: epochKeys.checkpointKey
        )
        let environment = try mappingFaults {
            try LMDB.Environment(
                path: path,
                options: .init(mapSize: mapSize, isReadOnly: isReadOnly)
            )
        }
        self.environment = environment
        files = isReadOnly ? nil : EnvironmentFiles(at: path)
        let table = try mappingFaults {
            try environment.table("streams", create: !isReadOnly)
        }
        guard let streams = table else {
            throw LogStorageFault(.damaged, "the vault has no table of streams")
        }
        self.streams = streams
        let names = try mappingFaults {
            try VaultNames(
                environment: environment,
                streams: streams,
                highestCounter: highestCounter,
                generation: epochKeys.first,
                isReadOnly: isReadOnly
            )
        }
        self.names = names
        guard let current = epochKeys.keys(of: try mappingFaults { try names.generation() }) else {
            throw LogStorageFault(.damaged, "the vault is of other epoch keys")
        }
        currentEpochs = Mutex(current)
        self.highestCounter = highestCounter
        let last = max(highestCounter, StreamNumber.counter(of: names.last))
        state = Mutex(State(nextCounter: last + 1, randomness: randomness))
        writer = Mutex(
            Writer(
                journal: isReadOnly
                    ? nil : try VaultJournal(path: path + "/" + VaultJournal.fileName),
                randomness: randomness,
                erasure: try ErasureNote.read(notePath)
            )
        )
        if wasStopped || journalIsEmpty {
            // Where the disk takes nothing, say, an audit tells.
            try? completeJournal()
        }
    }

    /// The epoch keys that the vault is sealed under.
    var epochs: EpochKeys { currentEpochs.withLock { $0 } }

    func use(_ keys: EpochKeys) { currentEpochs.withLock { $0 = keys } }

    /// How often something is read again whose epoch keys were rotated meanwhile.
    private static let attempts = 8

    /// Reads with the epoch keys of the moment, again where they were rotated meanwhile.
    ///
    /// `body`: nil where it met another generation.
    private func reading<Answer>(_ body: (EpochKeys) throws -> Answer?) throws -> Answer {
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
    package func close() {
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
        let found = try names.stream(of: digest, shard: shard, generation: epochs.generation)
        guard case .stream(let stream) = found else { return found == .none ? .some(nil) : nil }
        // Whose name is being freed has no stream.
        if closedStreams.contains(stream) { return .some(nil) }
        guard let entry = try environment.read({ try self.entry(of: stream, epochs, $0) }) else {
            return nil
        }
        if let entry, entry.digest == digest, entry.name == name { return entry }
        // An erasure may have come between the two.
        if entry == nil, try closedStreams.contains(stream) || isOutdated(epochs) { return nil }
        throw LogStorageFault(.damaged, "a name of the vault leads to another stream")
    }

    /// Whether the vault is sealed under other epoch keys by now.
    private func isOutdated(_ epochs: EpochKeys) throws -> Bool {
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

    /// See `Vault`.
    package func commit(upTo counter: UInt64) throws {
        guard state.withLock({ !$0.reserved(upTo: counter).isEmpty }) else { return }
        try writer.withLock { writer in
            // A name that is free again is not given anew before the stream that had it is gone.
            if let erasure = writer.erasure,
                state.withLock({ $0.closed.isSuperset(of: erasure.streams) })
            {
                try mappingFaults { try finish(&writer) }
            }
            var entries = state.withLock { Array($0.reserved(upTo: counter)) }
            guard !entries.isEmpty else { return }
            let epochs = epochs
            var values: [[UInt8]] = []
            values.reserveCapacity(entries.count)
            for index in entries.indices {
                let shard = StreamNumber.shard(of: entries[index].stream)
                entries[index].digest = epochs.digest(of: entries[index].name, shard: shard)
                values.append(
                    try entries[index].sealed(
                        under: epochs.shards[shard],
                        using: &writer.randomness
                    )
                )
            }
            try files?.check()
            try mappingFaults { try put(entries, values) }
            try writer.journal?.append(values, nowSeconds: clock() / 1000)
            names.add(entries)
            state.withLock { $0.settle(entries) }
        }
    }

    private func put(_ entries: [VaultEntry], _ values: [[UInt8]]) throws {
        try environment.write(growingBy: MapSize.growth) { transaction in
            let last = try transaction.last(streams) { key, _ in
                key.count == 8 ? key.loadUInt64BigEndian(at: 0) : .max
            }
            for (entry, value) in zip(entries, values) {
                // They stand already where a commit failed after all had been written.
                if let last, entry.stream <= last {
                    try transaction.put(streams, Key(entry.stream), value.span)
                } else {
                    try transaction.append(streams, Key(entry.stream), value.span)
                }
            }
        }
    }

    // MARK: Streams

    /// See `Vault`.
    package func name(of stream: UInt64) throws -> StreamName? {
        try entry(of: stream)?.name
    }

    /// See `Vault`.
    package func keys(of stream: UInt64) throws -> StreamKeys? {
        if let known = state.withLock({ $0.keys[stream] }) { return known }
        guard let entry = try entry(of: stream) else { return nil }
        let keys = StreamKeys(SymmetricKey(data: entry.key))
        return state.withLock { state in
            // It may have been closed while it was read.
            guard !state.closed.contains(stream) else { return nil }
            if state.keys.count >= Self.cacheLimit { state.keys = [:] }
            state.keys[stream] = keys
            return keys
        }
    }

    private func entry(of stream: UInt64) throws -> VaultEntry? {
        let (isClosed, reserved) = state.withLock {
            ($0.closed.contains(stream), $0.reserved(stream))
        }
        if isClosed { return nil }
        if let reserved { return reserved }
        let found: VaultEntry?? = try reading { epochs in
            try environment.read { transaction in
                try entry(of: stream, epochs, transaction)
            }
        }
        return found ?? nil
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
        numbers[name] ?? reservedNumbers[name]
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
        reservedNumbers[name] = number
        return number
    }

    /// Those that wait, up to a counter.
    fileprivate func reserved(upTo counter: UInt64) -> ArraySlice<VaultEntry> {
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

    /// Takes over those that have become durable, which are the first.
    fileprivate mutating func settle(_ entries: [VaultEntry]) {
        reserved.removeFirst(entries.count)
        for entry in entries {
            reservedNumbers[entry.name] = nil
            _ = remember(entry, of: entry.name)
        }
    }
}
