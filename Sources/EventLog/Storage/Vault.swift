package import Crypto
package import Encodings

/// What a stream is about: a subject in one environment.
package struct StreamName: Hashable, Sendable {
    /// Which environment.
    package var environment: UInt8
    /// The subject's text form; names are bytes (Model, "Events").
    @Bytewise package var subject: String

    /// Makes a name.
    package init(environment: UInt8, subject: String) {
        self.environment = environment
        self.subject = subject
    }

    /// The bytes of which the vault makes digests.
    package var message: [UInt8] { [environment] + Array(subject.utf8) }

    /// The shard: 12 bits of a keyed digest of the name.
    package func shard(under secret: KeyedHash) -> Int {
        let word = secret.code(for: message.span).words.0
        return Int(UInt64(bigEndian: word) >> 52)
    }
}

/// A stream's number: a counter times 4 096 plus its shard; counters are never reused.
@usableFromInline
package enum StreamNumber {
    /// Bits of the shard.
    @inlinable package static var shardBits: UInt64 { 12 }
    /// Number of shards.
    @inlinable package static var shardCount: Int { 1 << 12 }

    /// The stream of the catalog, which needs neither name nor key: its attachments stand in clear.
    @inlinable package static var catalog: UInt64 { 0 }

    /// The shard of a stream.
    @inlinable
    package static func shard(of stream: UInt64) -> Int { Int(stream & 0xFFF) }
    /// The counter of a stream.
    @inlinable
    package static func counter(of stream: UInt64) -> UInt64 { stream >> shardBits }
    /// The number of a counter in a shard.
    @inlinable
    package static func number(counter: UInt64, shard: Int) -> UInt64 {
        counter << shardBits | UInt64(shard)
    }
}

/// Who a stream is about, and which stream is about whom.
package protocol NameReader: Sendable {
    /// The stream of a name; nil if there is none. Cost: a digest and one read.
    func stream(of name: StreamName) throws -> UInt64?

    /// The name of a stream; nil if it is erased.
    func name(of stream: UInt64) throws -> StreamName?

    /// Whether a stream was erased; false for one that was never given.
    func isErased(_ stream: UInt64) throws -> Bool
}

/// What opens records, and makes digests.
package protocol KeyReader: Sendable {
    /// The keys of a stream; nil if it is erased.
    func keys(of stream: UInt64) throws -> StreamKeys?

    /// The secret under which signals become digests (E1).
    var digestSecret: KeyedHash { get }

    /// The secret under which views are written, so that nobody else can make some that are
    /// believed; nil where it is not at hand: then none are.
    var viewSecret: KeyedHash? { get }
}

/// Names and keys as they are read.
package protocol VaultReader: NameReader, KeyReader, IdentifierReader {
    /// Checks that every stream is there and whole, that each is found by its name, and that a
    /// second copy of each stands where the vault keeps one.
    ///
    /// - Returns: how many streams were ever made.
    /// - Throws: `LogStorageFault.damaged`. Cost: grows with the number of streams.
    @discardableResult
    func check() throws -> UInt64

    /// Verifies what the checkpoint key signs, under a log's name.
    func verifierKey(named name: String) throws -> VerifierKey
}

/// Gives names numbers and keys.
package protocol NameVault: NameReader {
    /// The stream of a name; a new one with new keys is reserved in memory until `commit`.
    func reserveStream(of name: StreamName) throws -> UInt64

    /// Lends every reserved stream up to a counter, sealed and ascending, to a commit of the log, which
    /// makes them durable together with the records that need them.
    ///
    /// No erasure has its turn meanwhile. Where `body` throws they stay reserved, or are found to
    /// stand; else the vault takes them over from the log, behind.
    ///
    /// - Throws: `LogStorageFault.full` where too many wait to be taken over; what `body` throws.
    func commit<Outcome: Sendable>(
        upTo counter: UInt64,
        _ body: ([NewStream]) throws -> Outcome
    ) throws -> Outcome

    /// Takes over every new stream that the log holds, durably, and has the log remove it.
    ///
    /// Cost: a commit each of vault and log, none where there is nothing.
    func drawIn() throws

    /// Counts how often reserved streams were given up because another machine leads: what was sealed
    /// before for one of them is sealed again.
    var surrenders: UInt64 { get }
}

extension NameVault {
    /// Never, for a vault that is one machine's.
    package var surrenders: UInt64 { 0 }
}

/// Destroys names and keys.
package protocol ErasableVault: Sendable {
    /// Notes durably what an erasure is about to take, before the log says so.
    ///
    /// New streams are drawn in first; where that fails, nothing is begun.
    func prepare(_ erasure: VaultErasure) throws

    /// The erasure that was prepared and neither finished nor cancelled; nil: none.
    var preparedErasure: VaultErasure? { get }

    /// Looks what another machine prepared that led before, where the vault is a cluster's.
    func takeUpErasure() throws

    /// Forgets what was prepared: the log does not say it.
    func cancelErasure() throws

    /// Closes streams in memory: from now on they have neither name nor keys, and their names
    /// belong to nobody.
    ///
    /// The log says that they go; `finishErasure` makes it durable.
    func close(_ streams: some Sequence<UInt64>)

    /// The streams that were closed since the vault was opened: what was sealed for one of them
    /// before is sealed again.
    var closedStreams: Set<UInt64> { get }

    /// Destroys names and keys of the streams that were prepared; their numbers stay taken.
    ///
    /// Goes on where it was stopped; nothing is done where nothing was prepared.
    ///
    /// Cost: grows with the number of streams in the shards of those that go.
    func finishErasure() throws

    /// Those of some subjects whom something names that waits outside of the log.
    ///
    /// What waits is deleted by the erasure of anybody whom it names.
    func quarantined(_ subjects: [String]) throws -> [String]

    /// Which copies that the product made still open what was erased.
    func erasedCopies(of streams: [UInt64]) throws -> ErasedCopies
}

/// Names and keys: small, durable, erasable.
package protocol Vault: VaultReader, NameVault, ErasableVault, IdentifierKeeper {
    /// Signs checkpoints.
    var checkpointKey: Curve25519.Signing.PrivateKey { get }
}

extension KeyReader {
    /// Derived from the digest secret, which stays when the master key changes.
    package var viewSecret: KeyedHash? { digestSecret.derived("entitlement-ledger views v1") }
}

extension ErasableVault {
    /// Nothing, for a vault that is one machine's.
    package func takeUpErasure() throws {}

    /// None, for a vault beside which nothing waits.
    package func quarantined(_ subjects: [String]) throws -> [String] { [] }
}

extension Vault {
    /// The public half of the checkpoint key.
    package func verifierKey(named name: String) throws -> VerifierKey {
        try VerifierKey(name: name, publicKey: checkpointKey.publicKey)
    }
}
