public import Crypto
public import EventLog
import LMDB
import Synchronization

/// Names and keys in one synchronous LMDB environment.
///
/// Tables: `streams` (stream number → sealed entry; an empty value is a tombstone) and `names`
/// (digest of the name → stream number).
public final class LMDBVault: Vault {
    private let environment: LMDB.Environment
    private let streams: Table
    private let names: Table
    private let epochKeys: EpochKeys
    fileprivate let state: Mutex<State>
    private let clock: @Sendable () -> Int64

    /// What is kept in memory; `reserved` waits for the commit that first uses it.
    fileprivate struct State {
        var reserved: [UInt64: VaultEntry] = [:]
        var reservedNumbers: [StreamName: UInt64] = [:]
        var numbers: [StreamName: UInt64] = [:]
        var keys: [UInt64: StreamKeys] = [:]
        var nextCounter: UInt64
        var journal: VaultJournal?
        var randomness: RandomSource
    }

    /// Entries that are kept in memory of each kind.
    fileprivate static let cacheLimit = 1 << 17

    /// See `Vault`.
    public let checkpointKey: Curve25519.Signing.PrivateKey
    /// See `Vault`.
    public var digestSecret: SymmetricKey { epochKeys.digestSecret }

    /// Opens the vault in a directory that exists.
    ///
    /// `highestCounter`: the log's, so that no counter is given twice.
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
        guard let streams = try environment.table("streams", create: !isReadOnly),
            let names = try environment.table("names", create: !isReadOnly)
        else { throw LogStorageFault(.damaged, "the vault has no tables") }
        self.streams = streams
        self.names = names
        let last = try mappingFaults {
            try environment.read {
                try $0.last(streams) { key, _ in
                    key.count == 8 ? key.loadUInt64BigEndian(at: 0) : 0
                }
            }
        }
        let highest = max(highestCounter, StreamNumber.counter(of: last ?? 0))
        state = Mutex(
            State(
                nextCounter: highest + 1,
                journal: isReadOnly
                    ? nil : try VaultJournal(path: path + "/" + VaultJournal.fileName),
                randomness: randomness
            )
        )
    }

    /// Syncs the journal and ends the use of the environment.
    public func close() {
        state.withLock { $0.journal = nil }
        environment.close()
    }

    // MARK: Names

    /// See `Vault`.
    public func stream(of name: StreamName) throws -> UInt64? {
        if let known = state.withLock({ $0.numbers[name] ?? $0.reservedNumbers[name] }) {
            return known
        }
        let digest = self.digest(of: name, shard: shard(of: name))
        let found = try mappingFaults {
            try environment.read {
                try $0.get(names, Key(digest.high, digest.low)) { value in
                    value.count == 8 ? value.loadUInt64(at: 0) : 0
                }
            }
        }
        guard let found, found != 0 else { return nil }
        state.withLock { $0.remember(found, of: name) }
        return found
    }

    /// See `Vault`.
    public func reserveStream(of name: StreamName) throws -> UInt64 {
        if let known = try stream(of: name) { return known }
        let shard = shard(of: name)
        let digest = digest(of: name, shard: shard)
        return state.withLock { state in
            if let reserved = state.reservedNumbers[name] ?? state.numbers[name] {
                return reserved
            }
            let number = StreamNumber.number(counter: state.nextCounter, shard: shard)
            state.nextCounter += 1
            state.reserved[number] = VaultEntry(
                stream: number,
                digest: digest,
                name: name,
                key: state.randomness.bytes(StreamKeys.byteCount)
            )
            state.reservedNumbers[name] = number
            return number
        }
    }

    /// See `Vault`.
    public func commit(_ streams: Set<UInt64>) throws {
        try state.withLock { state in
            let entries = streams.sorted().compactMap { state.reserved[$0] }
            guard !entries.isEmpty else { return }
            let values = try entries.map { entry in
                try entry.sealed(
                    under: epochKeys.shards[StreamNumber.shard(of: entry.stream)],
                    using: &state.randomness
                )
            }
            try mappingFaults {
                try environment.write(growingBy: MapSize.growth) { transaction in
                    for (entry, value) in zip(entries, values) {
                        try transaction.put(self.streams, Key(entry.stream), value.span)
                        var number = ByteWriter(reservingCapacity: 8)
                        number.append(entry.stream)
                        let key = Key(entry.digest.high, entry.digest.low)
                        try transaction.put(names, key, number.bytes.span)
                    }
                }
            }
            try state.journal?.append(values, nowSeconds: clock() / 1000)
            for entry in entries {
                state.reserved[entry.stream] = nil
                state.reservedNumbers[entry.name] = nil
                state.remember(entry.stream, of: entry.name)
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
        if let reserved = state.withLock({ $0.reserved[stream] }) { return reserved }
        return try mappingFaults {
            try environment.read {
                try $0.get(streams, Key(stream)) { value -> VaultEntry? in
                    value.isEmpty ? nil : try VaultEntry(opening: value, epochKeys: epochKeys)
                } ?? nil
            }
        }
    }

    // MARK: Digests

    private func shard(of name: StreamName) -> Int {
        name.shard(under: epochKeys.shardSecret)
    }

    /// The digest under which the name is found: keyed by its shard's epoch.
    private func digest(of name: StreamName, shard: Int) -> SignalDigest {
        let digest = KeyedDigest.bytes(name.message, key: epochKeys.shards[shard])
        return SignalDigest(high: digest.span.uint64(at: 0), low: digest.span.uint64(at: 8))
    }
}

extension LMDBVault.State {
    fileprivate mutating func remember(_ stream: UInt64, of name: StreamName) {
        if numbers.count >= LMDBVault.cacheLimit { numbers = [:] }
        numbers[name] = stream
    }
}
