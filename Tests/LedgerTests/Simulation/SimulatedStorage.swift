import Crypto
import EventLog
import Synchronization

/// The log of one process on a simulated disk.
final class SimulatedLog: LogStorage {
    private let disk: SimulatedDisk
    private let process: Int
    /// What the next commit removes; a process that dies takes it along.
    private let takenOver = Mutex<UInt64>(0)

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
        disk.log.tookOver(upTo: takenOver.withLock { $0 })
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

    func newStreams(from first: UInt64) -> [NewStream] { disk.log.newStreams(from: first) }
    func tookOver(upTo stream: UInt64) { takenOver.withLock { $0 = max($0, stream) } }

    func removeTakenOver() throws {
        try disk.enter(.commitLog, process)
        disk.log.tookOver(upTo: takenOver.withLock { $0 })
        disk.log.removeTakenOver()
    }
}

/// The vault of one process on a simulated disk: what it only reserved goes with it.
final class SimulatedVault: Vault {
    private let disk: SimulatedDisk
    private let log: SimulatedLog
    private let process: Int
    private let state: Mutex<State>
    private let shardSecret: KeyedHash
    let digestSecret: KeyedHash
    let checkpointKey: Curve25519.Signing.PrivateKey

    struct Entry: Sendable {
        var stream: UInt64
        var name: StreamName
        var key: [UInt8]

        init(stream: UInt64, name: StreamName, key: [UInt8]) {
            self.stream = stream
            self.name = name
            self.key = key
        }

        init(_ new: NewStream) {
            stream = new.stream
            key = Array(new.bytes.prefix(StreamKeys.byteCount))
            let rest = new.bytes.dropFirst(StreamKeys.byteCount)
            name = StreamName(
                environment: rest.first ?? 0,
                subject: String(decoding: rest.dropFirst(), as: UTF8.self)
            )
        }

        var sealed: NewStream { NewStream(stream: stream, bytes: key + name.message) }
    }

    private struct State {
        var entries: [UInt64: Entry]
        var numbers: [StreamName: UInt64]
        /// Given, and in no commit yet; ascending.
        var reserved: [Entry] = []
        /// Committed with the log, and not taken over yet.
        var waiting: [Entry]
        var nextCounter: UInt64
        var randomness: RandomSource
    }

    /// `secrets`: the same for every process of a simulation.
    init(
        _ disk: SimulatedDisk,
        _ log: SimulatedLog,
        process: Int,
        secrets: RandomSource,
        randomness: RandomSource
    ) throws {
        self.disk = disk
        self.log = log
        self.process = process
        var secrets = secrets
        digestSecret = KeyedHash(SymmetricKey(data: secrets.bytes(StreamKeys.byteCount)))
        shardSecret = KeyedHash(SymmetricKey(data: secrets.bytes(StreamKeys.byteCount)))
        checkpointKey = try Curve25519.Signing.PrivateKey(
            rawRepresentation: secrets.bytes(StreamKeys.byteCount)
        )
        let waiting = log.newStreams(from: 0).map { Entry($0) }
        let entries = disk.vault.merging(waiting.map { ($0.stream, $0) }) { kept, _ in kept }
        let highest = entries.keys.map(StreamNumber.counter).max() ?? 0
        state = Mutex(
            State(
                entries: entries,
                numbers: Dictionary(
                    uniqueKeysWithValues: entries.values.map { ($0.name, $0.stream) }
                ),
                waiting: waiting,
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
            let key = state.randomness.bytes(StreamKeys.byteCount)
            let entry = Entry(stream: number, name: name, key: key)
            state.numbers[name] = number
            state.entries[number] = entry
            state.reserved.append(entry)
            return number
        }
    }

    // Where the commit is in doubt, what was reserved is committed again: it may stand already.
    func commit<Outcome: Sendable>(
        upTo counter: UInt64,
        _ body: ([NewStream]) throws -> Outcome
    ) throws -> Outcome {
        let new = state.withLock { state in
            state.reserved.filter { StreamNumber.counter(of: $0.stream) <= counter }
        }
        let outcome = try body(new.map(\.sealed))
        state.withLock { state in
            state.reserved.removeFirst(new.count)
            state.waiting += new
        }
        return outcome
    }

    func drawIn() throws {
        // What a commit in doubt left in the log is found to stand.
        let standing = Set(log.newStreams(from: 0).map(\.stream))
        state.withLock { state in
            state.waiting += state.reserved.filter { standing.contains($0.stream) }
            state.reserved.removeAll { standing.contains($0.stream) }
        }
        try takeOver()
        try log.removeTakenOver()
    }

    /// Behind the log, at whatever moment a schedule chooses.
    func takeOver() throws {
        try disk.enter(.commitVault, process)
        let waiting = state.withLock { $0.waiting }
        guard let last = waiting.last else { return }
        if disk.defect != .removesEarly {
            try disk.commit(waiting)
            state.withLock { $0.waiting.removeFirst(waiting.count) }
        }
        log.tookOver(upTo: last.stream)
    }

    func check() -> UInt64 { state.withLock { UInt64($0.entries.count - $0.reserved.count) } }

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

    // No schedule searches.
    func identifiersEnd() -> UInt64 { 0 }
    func streams(holding identifier: String) -> [UInt64] { [] }
    func checkIdentifiers() {}
    func add(_: some Collection<HeldIdentifier>, from: UInt64, upTo: UInt64) -> Bool { false }
    func removeIdentifiers() {}

    func name(of stream: UInt64) -> StreamName? {
        state.withLock { $0.entries[stream]?.name }
    }

    func keys(of stream: UInt64) -> StreamKeys? {
        state.withLock { $0.entries[stream] }.map { StreamKeys(SymmetricKey(data: $0.key)) }
    }
}
