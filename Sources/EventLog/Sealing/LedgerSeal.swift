package import Crypto

/// Seals what leaves the ledger's directory and is for its own processes alone, such as tickets, and what machines of
/// a cluster hold in common (AES-256-GCM, under a key that is derived from the ledger's, another one for each purpose).
package struct LedgerSeal: Sendable {
    private let key: SymmetricKey

    /// Derives the key for a purpose, such as `deliveries`, of the key that signs the ledger's checkpoints.
    package init(_ ledgerKey: Curve25519.Signing.PrivateKey, for purpose: String) {
        key = SymmetricKey(
            data: HMAC<SHA256>.authenticationCode(
                for: Array("entitlement-ledger/\(purpose)".utf8),
                using: SymmetricKey(data: ledgerKey.rawRepresentation)
            )
        )
    }

    /// Seals bytes; they open where the same words are said beside them.
    package func sealed(_ bytes: [UInt8], as words: String = "") throws -> [UInt8] {
        let box = try AES.GCM.seal(bytes, using: key, authenticating: Array(words.utf8))
        // A box with a nonce of the standard's length has all its parts in one.
        return Array(box.nonce + box.ciphertext + box.tag)
    }

    /// What was sealed.
    ///
    /// - Throws: `LogStorageFault.damaged` where it was sealed otherwise, or changed.
    package func opened(_ bytes: [UInt8], as words: String = "") throws -> [UInt8] {
        // Whatever was changed in it or sealed by others opens no more.
        guard let box = try? AES.GCM.SealedBox(combined: bytes),
            // The same.
            let plain = try? AES.GCM.open(box, using: key, authenticating: Array(words.utf8))
        else { throw LogStorageFault(.damaged, "what was sealed opens no more: \(words)") }
        return Array(plain)
    }
}
