import Crypto

/// What is known of a vault whose master key is not at hand: nobody has a name, nothing opens.
///
/// For what needs neither: the log's hashes, its checkpoints, its counts.
package struct KeylessVault: VaultReader {
    private let publicKey: VerifierKey
    /// Makes digests that meet none of the log's.
    package let digestSecret = KeyedHash(SymmetricKey(size: .bits256))
    /// Views are not believed without the key.
    package var viewSecret: KeyedHash? { nil }

    /// `publicKey`: verifies the log's checkpoints, as `ledger.json` says.
    package init(publicKey: VerifierKey) { self.publicKey = publicKey }

    /// The key that `ledger.json` names.
    package func verifierKey(named name: String) -> VerifierKey { publicKey }
    /// Nobody has a name.
    package func stream(of name: StreamName) -> UInt64? { nil }
    /// Nobody has a name.
    package func name(of stream: UInt64) -> StreamName? { nil }
    /// Nothing opens.
    package func keys(of stream: UInt64) -> StreamKeys? { nil }
    /// Nobody can tell.
    package func isErased(_ stream: UInt64) throws -> Bool { throw Self.fault }
    /// Nobody can tell.
    package func check() throws -> UInt64 { throw Self.fault }

    /// Nobody is found.
    package func identifiersEnd() -> UInt64 { 0 }
    /// Nobody is found.
    package func streams(holding identifier: String) -> [UInt64] { [] }
    /// Nobody can tell.
    package func checkIdentifiers() throws { throw Self.fault }

    /// What is asked of it that takes the key.
    package static let fault = LogStorageFault(.unreadable, "the master key is not at hand")
}
