import Crypto

/// What is known of a vault whose master key is not at hand: nobody has a name, nothing opens.
///
/// For what needs neither: the log's hashes, its checkpoints, its counts.
public struct KeylessVault: VaultReader {
    private let publicKey: VerifierKey
    /// Makes digests that meet none of the log's.
    public let digestSecret = KeyedHash(SymmetricKey(size: .bits256))
    /// Views are not believed without the key.
    public var viewSecret: KeyedHash? { nil }

    /// `publicKey`: verifies the log's checkpoints, as `ledger.json` says.
    public init(publicKey: VerifierKey) { self.publicKey = publicKey }

    /// The key that `ledger.json` names.
    public func verifierKey(named name: String) -> VerifierKey { publicKey }
    /// Nobody has a name.
    public func stream(of name: StreamName) -> UInt64? { nil }
    /// Nobody has a name.
    public func name(of stream: UInt64) -> StreamName? { nil }
    /// Nothing opens.
    public func keys(of stream: UInt64) -> StreamKeys? { nil }
    /// Nobody can tell.
    public func isErased(_ stream: UInt64) throws -> Bool { throw Self.fault }
    /// Nobody can tell.
    public func check() throws -> UInt64 { throw Self.fault }

    /// What is asked of it that takes the key.
    public static let fault = LogStorageFault(.unreadable, "the master key is not at hand")
}
