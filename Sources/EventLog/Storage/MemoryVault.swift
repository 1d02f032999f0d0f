package import Crypto
import Encodings
import Synchronization

/// Names and keys that live as long as the process.
///
/// With it goes every key: what was sealed under them stays sealed.
package final class MemoryVault: Vault {
    private let state: Mutex<State>
    private let shardSecret: KeyedHash

    private struct State {
        var numbers: [StreamName: UInt64] = [:]
        var streams: [UInt64: (name: StreamName, keys: StreamKeys)] = [:]
        var nextCounter: UInt64 = 1
        var closed: Set<UInt64> = []
        var prepared: VaultErasure?
        var identifiers: Set<HeldIdentifier> = []
        var identifiersEnd: UInt64 = 0
        var randomness: RandomSource
    }

    /// See `Vault`.
    package let digestSecret: KeyedHash
    /// See `Vault`.
    package let checkpointKey: Curve25519.Signing.PrivateKey

    /// Makes an empty vault with secrets of its own.
    ///
    /// `randomness`: secrets and keys of streams.
    ///
    /// - Throws: what swift-crypto throws of 32 bytes that are no Ed25519 key; all are one.
    package init(randomness: RandomSource) throws {
        var randomness = randomness
        func secret() -> KeyedHash {
            KeyedHash(SymmetricKey(data: randomness.bytes(StreamKeys.byteCount)))
        }
        digestSecret = secret()
        shardSecret = secret()
        checkpointKey = try Curve25519.Signing.PrivateKey(
            rawRepresentation: randomness.bytes(StreamKeys.byteCount)
        )
        state = Mutex(State(randomness: randomness))
    }

    /// See `Vault`; knows a stream from its reservation on.
    package func stream(of name: StreamName) -> UInt64? {
        state.withLock { $0.numbers[name] }
    }

    /// See `Vault`.
    package func reserveStream(of name: StreamName) -> UInt64 {
        let shard = name.shard(under: shardSecret)
        return state.withLock { state in
            if let known = state.numbers[name] { return known }
            let number = StreamNumber.number(counter: state.nextCounter, shard: shard)
            let key = SymmetricKey(data: state.randomness.bytes(StreamKeys.byteCount))
            state.nextCounter += 1
            state.numbers[name] = number
            state.streams[number] = (name, StreamKeys(key))
            return number
        }
    }

    /// Lends none: memory has nothing more durable than a reservation.
    package func commit<Outcome: Sendable>(
        upTo counter: UInt64,
        _ body: ([NewStream]) throws -> Outcome
    ) throws -> Outcome {
        try body([])
    }

    /// Nothing waits.
    package func drawIn() {}

    /// See `Vault`.
    package func prepare(_ erasure: VaultErasure) { state.withLock { $0.prepared = erasure } }

    /// See `Vault`.
    package var preparedErasure: VaultErasure? { state.withLock { $0.prepared } }

    /// See `Vault`.
    package func cancelErasure() { state.withLock { $0.prepared = nil } }

    /// See `Vault`; what is closed is gone: memory has no other copy.
    package func close(_ streams: some Sequence<UInt64>) {
        state.withLock { state in
            for stream in streams {
                state.closed.insert(stream)
                state.identifiers = state.identifiers.filter { $0.stream != stream }
                guard let name = state.streams.removeValue(forKey: stream)?.name else { continue }
                if state.numbers[name] == stream { state.numbers[name] = nil }
            }
        }
    }

    /// See `Vault`.
    package var closedStreams: Set<UInt64> { state.withLock { $0.closed } }

    /// See `Vault`.
    package func isErased(_ stream: UInt64) -> Bool { closedStreams.contains(stream) }

    /// See `Vault`.
    package func finishErasure() {
        if let prepared = preparedErasure { close(prepared.streams) }
        cancelErasure()
    }

    /// None.
    package func erasedCopies(of streams: [UInt64]) -> ErasedCopies {
        ErasedCopies(generation: 0)
    }

    /// Does nothing: memory is not checked.
    package func check() -> UInt64 { state.withLock { $0.nextCounter - 1 } }

    /// See `Vault`.
    package func name(of stream: UInt64) -> StreamName? {
        state.withLock { $0.streams[stream]?.name }
    }

    /// See `Vault`.
    package func keys(of stream: UInt64) -> StreamKeys? {
        state.withLock { $0.streams[stream]?.keys }
    }
}

extension MemoryVault {
    /// See `Vault`.
    package func identifiersEnd() -> UInt64 { state.withLock { $0.identifiersEnd } }

    /// See `Vault`.
    package func streams(holding identifier: String) -> [UInt64] {
        let held = state.withLock { $0.identifiers }
        return held.filter { $0.text.isSame(as: identifier) }.map(\.stream).sorted()
    }

    /// Does nothing: memory is not checked.
    package func checkIdentifiers() {}

    /// See `Vault`.
    @discardableResult
    package func add(
        _ identifiers: some Collection<HeldIdentifier>,
        from start: UInt64,
        upTo end: UInt64
    ) -> Bool {
        state.withLock { state in
            guard state.identifiersEnd == start else { return false }
            let closed = state.closed
            state.identifiers.formUnion(identifiers.filter { !closed.contains($0.stream) })
            state.identifiersEnd = end
            return true
        }
    }

    /// See `Vault`.
    package func removeIdentifiers() {
        state.withLock { ($0.identifiers, $0.identifiersEnd) = ([], 0) }
    }
}
