package import EventLog

/// Under what the views of a ledger are written: its id, and a secret of its vault.
///
/// Whoever may write their files but has not the secret makes none that is believed, and moves none
/// to another place: each part of them is written under a key for its place alone.
package struct ViewSeal: Sendable {
    /// The ledger's 16 random bytes.
    package let ledgerID: [UInt8]
    private let secret: KeyedHash

    package init(ledgerID: [UInt8], secret: KeyedHash) {
        self.ledgerID = ledgerID
        self.secret = secret
    }

    /// The key of one part of the views.
    ///
    /// `place`: where it stands; of one length for a purpose.
    package func key(_ purpose: String, _ place: [UInt8] = []) -> KeyedHash {
        secret.derived(purpose, ledgerID + place)
    }

    /// A whole file: its content, and the code of it.
    package func sealed(_ content: [UInt8], _ purpose: String) -> [UInt8] {
        content + AuthenticationCode(of: content.span, under: key(purpose)).bytes
    }

    /// How many bytes of a file are content.
    ///
    /// - Throws: `DecodingFault` where another wrote it, or it is not whole.
    package func contentCount(
        of file: Span<UInt8>,
        _ purpose: String
    ) throws(DecodingFault) -> Int {
        let end = file.count - AuthenticationCode.byteCount
        guard end >= 0,
            AuthenticationCode(of: file.extracting(0..<end), under: key(purpose))
                .matches(AuthenticationCode(file, at: end))
        else {
            throw DecodingFault(what: "not written under this ledger's key", offset: 0)
        }
        return end
    }
}
