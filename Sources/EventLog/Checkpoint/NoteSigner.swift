package import Crypto

/// A named Ed25519 key that signs notes.
///
/// swift-crypto signs deterministically on Linux and at random on Apple's systems, so two notes of
/// one text need not be equal there.
package struct NoteSigner: Sendable {
    /// The key that verifies what this one signs.
    package let verifierKey: VerifierKey
    private let privateKey: Curve25519.Signing.PrivateKey

    /// Names a private key.
    ///
    /// - Throws: ``NoteFault`` `malformedKey` where the name is empty or holds a space, a plus or
    ///   a control character.
    package init(
        name: String,
        privateKey: Curve25519.Signing.PrivateKey
    ) throws(NoteFault) {
        verifierKey = try VerifierKey(name: name, publicKey: privateKey.publicKey)
        self.privateKey = privateKey
    }

    /// The name of the key.
    package var name: String { verifierKey.name }

    /// Signs a text.
    ///
    /// - Parameter text: ends in a newline, has no control character but newlines.
    /// - Returns: the note with this one signature.
    /// - Throws: ``NoteFault`` `malformedNote` where the text is not of that form, `tooLarge` where
    ///   the note would pass the limits, `signingFailed` where the key does not sign.
    package func sign(_ text: String) throws(NoteFault) -> SignedNote {
        try SignedNote(text: text, signatures: [signature(of: text)])
    }

    /// Signs the text of a note as well, after its other signatures.
    ///
    /// - Throws: as ``sign(_:)``.
    package func cosign(_ note: SignedNote) throws(NoteFault) -> SignedNote {
        try SignedNote(text: note.text, signatures: note.signatures + [signature(of: note.text)])
    }

    private func signature(of text: String) throws(NoteFault) -> NoteSignature {
        do {
            let bytes = Array(try privateKey.signature(for: Array(text.utf8)))
            return NoteSignature(name: name, keyID: verifierKey.keyID, bytes: bytes)
        } catch {
            throw NoteFault(.signingFailed, "the key did not sign")
        }
    }
}
