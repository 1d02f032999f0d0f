package import Crypto
import Synchronization

/// A vault whose new names and keys live in memory, over one that is only read: the keys of a
/// `DraftLog`.
package final class DraftVault: Vault {
    private let base: any Vault
    private let reserved: Mutex<Reserved>

    private struct Reserved {
        var numbers: [StreamName: UInt64] = [:]
        var streams: [UInt64: (name: StreamName, keys: StreamKeys)] = [:]
        var randomness: RandomSource
    }

    /// Above every counter that a ledger gives.
    private static let firstCounter: UInt64 = 1 << 48
    /// No shard says anything of a name that nobody keeps.
    private static let shard = 1

    /// Begins with what a vault has.
    ///
    /// `randomness`: keys of streams.
    package init(on base: any Vault, randomness: RandomSource) {
        self.base = base
        reserved = Mutex(Reserved(randomness: randomness))
    }

    /// See `Vault`.
    package var digestSecret: KeyedHash { base.digestSecret }
    /// See `Vault`.
    package var viewSecret: KeyedHash? { base.viewSecret }
    /// See `Vault`.
    package var checkpointKey: Curve25519.Signing.PrivateKey { base.checkpointKey }

    /// See `Vault`.
    package func stream(of name: StreamName) throws -> UInt64? {
        // What the base names meanwhile the draft has named already.
        try reserved.withLock { $0.numbers[name] } ?? base.stream(of: name)
    }

    /// See `Vault`.
    package func reserveStream(of name: StreamName) throws -> UInt64 {
        if let known = try stream(of: name) { return known }
        return reserved.withLock { reserved in
            if let known = reserved.numbers[name] { return known }
            let number = StreamNumber.number(
                counter: Self.firstCounter + UInt64(reserved.numbers.count),
                shard: Self.shard
            )
            let key = SymmetricKey(data: reserved.randomness.bytes(StreamKeys.byteCount))
            reserved.numbers[name] = number
            reserved.streams[number] = (name, StreamKeys(key))
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
    package func name(of stream: UInt64) throws -> StreamName? {
        if let own = reserved.withLock({ $0.streams[stream] }) { return own.name }
        return try base.name(of: stream)
    }

    /// See `Vault`.
    package func keys(of stream: UInt64) throws -> StreamKeys? {
        if let own = reserved.withLock({ $0.streams[stream] }) { return own.keys }
        return try base.keys(of: stream)
    }

    /// See `Vault`.
    package func isErased(_ stream: UInt64) throws -> Bool { try base.isErased(stream) }

    /// See `Vault`.
    package var closedStreams: Set<UInt64> { base.closedStreams }

    /// See `Vault`: of the base alone.
    package func check() throws -> UInt64 { try base.check() }

    /// None is prepared here: what the base prepared is the base's to finish.
    package var preparedErasure: VaultErasure? { nil }

    /// The base's.
    package func identifiersEnd() throws -> UInt64 { try base.identifiersEnd() }
    /// See `Vault`.
    package func identifiersByteCount() throws -> Int? { try base.identifiersByteCount() }

    /// The base's: those of a draft are read from its log.
    package func streams(holding identifier: String) throws -> [UInt64] {
        try base.streams(holding: identifier)
    }

    /// The base's.
    package func outdatedShards() throws -> [Int] { try base.outdatedShards() }

    /// The base's.
    package func streams(ofShard shard: Int) throws -> [UInt64] {
        try base.streams(ofShard: shard)
    }

    /// The base's.
    package func checkIdentifiers() throws { try base.checkIdentifiers() }

    /// Adds none: what a draft records goes with it.
    @discardableResult
    package func add(
        _ identifiers: some Collection<HeldIdentifier>,
        from start: UInt64,
        upTo end: UInt64
    ) -> Bool { false }

    /// Removes none: they are the base's.
    package func removeIdentifiers() {}

    /// Refused: nothing is erased in a draft.
    package func prepare(_ erasure: VaultErasure) throws { throw Self.refusal }

    /// Nothing is prepared.
    package func cancelErasure() {}

    /// Nothing is prepared.
    package func finishErasure() {}

    /// Passes over streams: the base closes its own.
    package func close(_ streams: some Sequence<UInt64>) {}

    /// See `Vault`.
    package func erasedCopies(of streams: [UInt64]) throws -> ErasedCopies {
        try base.erasedCopies(of: streams)
    }

    private static let refusal = LogStorageFault(.unreadable, "nothing is erased in a draft")
}
