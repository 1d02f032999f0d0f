public import Crypto
public import EventLog
import LMDB
import Synchronization

/// Names and keys in one synchronous LMDB environment.
///
/// Tables: `streams` (stream number → sealed entry or tombstone), in the order of
/// the counters, and `names`, which is derived from it (``VaultNames``).
public final class LMDBVault: Vault {
    let environment: LMDB.Environment
    let streams: Table
    private let names: VaultNames
    /// The log's when the vault was opened: streams up to it must be there.
    private let highestCounter: UInt64
    private let epochKeys: EpochKeys
    private let shardSecret: KeyedHash
    fileprivate let state: Mutex<State>
    /// Held while reserved streams become durable; `state` is free meanwhile.
    private let writer: Mutex<Writer>
    private let clock: @Sendable () -> Int64

    /// What is kept in memory.
    fileprivate struct State {
        /// Ascending by counter; they wait for the commit that first uses one of them.
        var reserved: [VaultEntry] = []
        var reservedNumbers: [StreamName: UInt64] = [:]
        var numbers: [StreamName: UInt64] = [:]
        var keys: [UInt64: StreamKeys] = [:]
        var nextCounter: UInt64
        var randomness: RandomSource
    }

    private struct Writer {
        var journal: VaultJournal?
        var randomness: RandomSource
    }

    /// Entries that are kept in memory of each kind.
    fileprivate static let cacheLimit = 1 << 16

    /// See `Vault`.
    public let checkpointKey: Curve25519.Signing.PrivateKey
    /// See `Vault`.
    public let digestSecret: KeyedHash

    /// Opens the vault in a directory that exists.
    ///
    /// `highestCounter`: the log's, whose streams must all be there.
    init(
        path: String,
        epochKeys: EpochKeys,
        isReadOnly: Bool,
        mapSize: Int = MapSize.usual,
        highestCounter: UInt64,
        clock: @escaping @Sendable () -> Int64,
        randomness: RandomSource
    ) throws {
        self.epochKeys = epochKeys
        self.clock = clock
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
        guard let streams = try environment.table("streams", create: !isReadOnly) else {
            throw LogStorageFault(.damaged, "the vault has no table of streams")
        }
        self.streams = streams
        let names = try mappingFaults {
            try VaultNames(
                environment: environment,
                streams: streams,
                highestCounter: highestCounter,
                isReadOnly: isReadOnly
            )
        }
        self.names = names
        self.highestCounter = highestCounter
        let last = max(highestCounter, StreamNumber.counter(of: names.last))
        state = Mutex(State(nextCounter: last + 1, randomness: randomness))
        writer = Mutex(
            Writer(
                journal: isReadOnly
                    ? nil : try VaultJournal(path: path + "/" + VaultJournal.fileName),
                randomness: randomness
            )
        )
    }

    /// Syncs the journal and ends the use of the environment.
    public func close() {
        writer.withLock { $0.journal = nil }
        names.finish()
        environment.close()
    }

    // MARK: Names

    /// See `Vault`.
    public func stream(of name: StreamName) throws -> UInt64? {
        if let known = state.withLock({ $0.number(of: name) }) { return known }
        return try stream(of: name, digest(of: name, shard: shard(of: name)))
    }

    private func stream(of name: StreamName, _ digest: SignalDigest) throws -> UInt64? {
        let found = try mappingFaults { try names.stream(of: digest) }
        if let found { state.withLock { $0.remember(found, of: name) } }
        return found
    }

    /// See `Vault`.
    public func reserveStream(of name: StreamName) throws -> UInt64 {
        if let known = state.withLock({ $0.number(of: name) }) { return known }
        let shard = shard(of: name)
        let digest = digest(of: name, shard: shard)
        if let known = try stream(of: name, digest) { return known }
        return state.withLock { state in
            // Another thread may have been faster.
            state.number(of: name) ?? state.reserve(name, digest, shard: shard)
        }
    }

    /// See `Vault`.
    public func commit(upTo counter: UInt64) throws {
        guard state.withLock({ !$0.reserved(upTo: counter).isEmpty }) else { return }
        try writer.withLock { writer in
            let entries = state.withLock { $0.reserved(upTo: counter) }
            guard !entries.isEmpty else { return }
            let values = try entries.map { entry in
                try entry.sealed(
                    under: epochKeys.shards[StreamNumber.shard(of: entry.stream)],
                    using: &writer.randomness
                )
            }
            try mappingFaults { try put(entries, values) }
            try writer.journal?.append(values, nowSeconds: clock() / 1000)
            names.add(entries)
            state.withLock { $0.settle(entries) }
        }
    }

    private func put(_ entries: ArraySlice<VaultEntry>, _ values: [[UInt8]]) throws {
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
    public func name(of stream: UInt64) throws -> StreamName? {
        try entry(of: stream)?.name
    }

    /// See `Vault`.
    public func keys(of stream: UInt64) throws -> StreamKeys? {
        if let known = state.withLock({ $0.keys[stream] }) { return known }
        guard let entry = try entry(of: stream) else { return nil }
        let keys = StreamKeys(SymmetricKey(data: entry.key))
        state.withLock { state in
            if state.keys.count >= Self.cacheLimit { state.keys = [:] }
            state.keys[stream] = keys
        }
        return keys
    }

    private func entry(of stream: UInt64) throws -> VaultEntry? {
        if let reserved = state.withLock({ $0.reserved(stream) }) { return reserved }
        return try mappingFaults {
            try environment.read { transaction in
                let found = try transaction.get(streams, Key(stream)) { value -> VaultEntry? in
                    try VaultEntry.isTombstone(value)
                        ? nil : VaultEntry(opening: value, epochKeys: epochKeys)
                }
                // An erased stream has a tombstone, an orphan its entry.
                if let found, found == nil || found?.stream == stream { return found }
                guard isGiven(stream) else { return nil }
                throw LogStorageFault(.damaged, "a stream is missing from the vault")
            }
        }
    }

    /// Whether a stream of this number was made; the catalog's needs no entry.
    private func isGiven(_ stream: UInt64) -> Bool {
        let last = max(highestCounter, StreamNumber.counter(of: names.last))
        return stream != StreamNumber.catalog && StreamNumber.counter(of: stream) <= last
    }

    /// See `Vault`.
    public func check() throws { try mappingFaults { try names.check() } }

    // MARK: Digests

    private func shard(of name: StreamName) -> Int { name.shard(under: shardSecret) }

    /// The digest under which the name is found: keyed by its shard's epoch.
    private func digest(of name: StreamName, shard: Int) -> SignalDigest {
        SignalDigest(KeyedHash(epochKeys.shards[shard]).code(for: name.message.span))
    }
}

extension LMDBVault.State {
    fileprivate func number(of name: StreamName) -> UInt64? {
        numbers[name] ?? reservedNumbers[name]
    }

    fileprivate mutating func remember(_ stream: UInt64, of name: StreamName) {
        if numbers.count >= LMDBVault.cacheLimit { numbers = [:] }
        numbers[name] = stream
    }

    fileprivate mutating func reserve(
        _ name: StreamName,
        _ digest: SignalDigest,
        shard: Int
    ) -> UInt64 {
        let number = StreamNumber.number(counter: nextCounter, shard: shard)
        nextCounter += 1
        reserved.append(
            VaultEntry(
                stream: number,
                digest: digest,
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
    fileprivate mutating func settle(_ entries: ArraySlice<VaultEntry>) {
        reserved.removeFirst(entries.count)
        for entry in entries {
            reservedNumbers[entry.name] = nil
            remember(entry.stream, of: entry.name)
        }
    }
}
