import Crypto
import EventLog
import Synchronization

/// The log of one process on a simulated disk.
final class SimulatedLog: LogStorage {
    private let disk: SimulatedDisk
    private let process: Int

    init(_ disk: SimulatedDisk, process: Int) {
        self.disk = disk
        self.process = process
    }

    func end() throws -> LogEnd {
        guard disk.isAlive(process) else { throw SimulatedCrash() }
        return disk.log.end()
    }

    func append(_ batch: LogBatch) throws -> LogEnd {
        try disk.enter(.commitLog, process)
        let end = try disk.append(batch, process)
        // Readers come between the commit and its acknowledgement too.
        try disk.enter(.commitLog, process)
        return end
    }

    func reopen() throws {
        guard disk.isAlive(process) else { throw SimulatedCrash() }
    }

    func readBlocks(
        from first: UInt64,
        upTo end: UInt64,
        _ body: (UInt64, Span<UInt8>) throws -> Bool
    ) throws {
        try disk.enter(.read, process)
        try disk.log.readBlocks(from: first, upTo: end, body)
    }

    func readRecords(_ sequences: [UInt64], _ body: (UInt64, Span<UInt8>) throws -> Void) throws {
        try disk.enter(.read, process)
        try disk.log.readRecords(sequences, body)
    }

    func attached(at sequence: UInt64) -> [UInt8]? { disk.log.attached(at: sequence) }
    func sharedPart(_ digest: EventLog.Digest) -> [UInt8]? { disk.log.sharedPart(digest) }
    func tile(level: Int, index: UInt64) -> [UInt8]? { disk.log.tile(level: level, index: index) }

    func keepCheckpoint(size: UInt64, note: String) {
        disk.log.keepCheckpoint(size: size, note: note)
    }

    func checkpoints() -> [(size: UInt64, note: String)] { disk.log.checkpoints() }
}

/// The vault of one process on a simulated disk: what it only reserved goes with it.
final class SimulatedVault: Vault {
    private let disk: SimulatedDisk
    private let process: Int
    private let state: Mutex<State>
    private let shardSecret: KeyedHash
    let digestSecret: KeyedHash
    let checkpointKey: Curve25519.Signing.PrivateKey

    struct Entry: Sendable {
        var stream: UInt64
        var name: StreamName
        var keys: StreamKeys
    }

    private struct State {
        var entries: [UInt64: Entry]
        var numbers: [StreamName: UInt64]
        var nextCounter: UInt64
        var randomness: RandomSource
    }

    /// `secrets`: the same for every process of a simulation.
    init(
        _ disk: SimulatedDisk,
        process: Int,
        secrets: RandomSource,
        randomness: RandomSource
    ) throws {
        self.disk = disk
        self.process = process
        var secrets = secrets
        digestSecret = KeyedHash(SymmetricKey(data: secrets.bytes(StreamKeys.byteCount)))
        shardSecret = KeyedHash(SymmetricKey(data: secrets.bytes(StreamKeys.byteCount)))
        checkpointKey = try Curve25519.Signing.PrivateKey(
            rawRepresentation: secrets.bytes(StreamKeys.byteCount)
        )
        let entries = disk.vault
        let highest = entries.keys.map(StreamNumber.counter).max() ?? 0
        state = Mutex(
            State(
                entries: entries,
                numbers: Dictionary(
                    uniqueKeysWithValues: entries.values.map { ($0.name, $0.stream) }
                ),
                nextCounter: max(disk.log.end().highestCounter, highest) + 1,
                randomness: randomness
            )
        )
    }

    func stream(of name: StreamName) throws -> UInt64? {
        try disk.enter(.read, process)
        return state.withLock { $0.numbers[name] }
    }

    func reserveStream(of name: StreamName) throws -> UInt64 {
        if let known = try stream(of: name) { return known }
        let shard = name.shard(under: shardSecret)
        return state.withLock { state in
            let number = StreamNumber.number(counter: state.nextCounter, shard: shard)
            state.nextCounter += 1
            let key = SymmetricKey(data: state.randomness.bytes(StreamKeys.byteCount))
            state.numbers[name] = number
            state.entries[number] = Entry(stream: number, name: name, keys: StreamKeys(key))
            return number
        }
    }

    func commit(upTo counter: UInt64) throws {
        try disk.enter(.commitVault, process)
        let known = disk.vault
        let new = state.withLock { state in
            state.entries.values.filter {
                known[$0.stream] == nil && StreamNumber.counter(of: $0.stream) <= counter
            }
        }
        guard !new.isEmpty else { return }
        try disk.commit(new.sorted { $0.stream < $1.stream })
    }

    func check() -> UInt64 { UInt64(disk.vault.count) }

    // No schedule erases: what was told must still be found.
    func prepare(_ erasure: VaultErasure) throws { throw LogStorageFault(.full, "not simulated") }
    var preparedErasure: VaultErasure? { nil }
    func cancelErasure() {}
    func close(_ streams: some Sequence<UInt64>) {}
    var closedStreams: Set<UInt64> { [] }
    func finishErasure() {}
    func isErased(_ stream: UInt64) -> Bool { false }
    func erasedCopies(of streams: [UInt64]) -> ErasedCopies {
        ErasedCopies(generation: 0)
    }

    func name(of stream: UInt64) -> StreamName? {
        state.withLock { $0.entries[stream]?.name }
    }

    func keys(of stream: UInt64) -> StreamKeys? {
        state.withLock { $0.entries[stream]?.keys }
    }
}
