public import Crypto

/// A vault whose master key is not at hand: nobody has a name, nothing opens.
///
/// For what needs neither: the log's hashes, its checkpoints, its counts.
public final class KeylessVault: Vault {
    private let publicKey: VerifierKey
    /// Makes digests that meet none of the log's.
    public let digestSecret = KeyedHash(SymmetricKey(size: .bits256))
    /// Views are not believed without the key.
    public var viewSecret: KeyedHash? { nil }
    /// Signs nothing that counts: a ledger without its key is only read.
    public let checkpointKey = Curve25519.Signing.PrivateKey()

    /// `publicKey`: verifies the log's checkpoints, as `ledger.json` says.
    public init(publicKey: VerifierKey) { self.publicKey = publicKey }

    /// See `Vault`.
    public func verifierKey(named name: String) -> VerifierKey { publicKey }
    /// Nobody has a name.
    public func stream(of name: StreamName) -> UInt64? { nil }
    /// Nobody gets one.
    public func reserveStream(of name: StreamName) throws -> UInt64 { throw Self.fault }
    /// Nothing waits.
    public func commit(upTo counter: UInt64) {}
    /// Nobody has a name.
    public func name(of stream: UInt64) -> StreamName? { nil }
    /// Nothing opens.
    public func keys(of stream: UInt64) -> StreamKeys? { nil }
    /// Erases nothing.
    public func prepare(_ erasure: VaultErasure) throws { throw Self.fault }
    /// See `Vault`.
    public var preparedErasure: VaultErasure? { nil }
    /// See `Vault`.
    public func cancelErasure() {}
    /// See `Vault`.
    public func close(_ streams: some Sequence<UInt64>) {}
    /// See `Vault`.
    public var closedStreams: Set<UInt64> { [] }
    /// See `Vault`.
    public func finishErasure() {}
    /// Nobody can tell.
    public func isErased(_ stream: UInt64) throws -> Bool { throw Self.fault }
    /// Nobody can tell.
    public func erasedCopies(of streams: [UInt64]) throws -> ErasedCopies { throw Self.fault }
    /// Nobody can tell.
    public func check() throws -> UInt64 { throw Self.fault }

    private static let fault = LogStorageFault(.unreadable, "the master key is not at hand")
}
