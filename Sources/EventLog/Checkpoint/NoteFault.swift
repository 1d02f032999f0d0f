/// Why a signed note, a key or a checkpoint was not accepted.
///
/// Equal by code: tests and callers compare codes, people read messages.
package struct NoteFault: Error, Sendable {
    /// The kind of fault; its word is one that a problem object has.
    package enum Code: String, Sendable, CaseIterable {
        /// The note is not of the form that C2SP signed-note asks for.
        case malformedNote = "malformed_note"
        /// The note has more bytes or more signatures than the limits allow.
        case tooLarge = "too_large"
        /// The key's text or name is not of the form that C2SP signed-note asks for.
        case malformedKey = "malformed_key"
        /// The key is of a signature type other than Ed25519's (0x01, 0x04).
        case unsupportedKey = "unsupported_key"
        /// No signature is by a known key.
        case noKnownSignature = "no_known_signature"
        /// A signature by a known key does not match the text.
        case invalidSignature = "invalid_signature"
        /// The text is not of the form that C2SP tlog-checkpoint asks for.
        case malformedCheckpoint = "malformed_checkpoint"
        /// The text is not a proof of the form that C2SP tlog-proof or tlog-witness asks for.
        case malformedProof = "malformed_proof"
        /// The proof does not hold.
        case notProven = "not_proven"
        /// The key could not sign.
        case signingFailed = "signing_failed"
    }

    /// What to decide by.
    package var code: Code
    /// What to show; holds no text of the note.
    package var message: String

    /// Makes a fault.
    package init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }
}

extension NoteFault: Hashable, CustomStringConvertible {
    /// Compares the codes.
    package static func == (left: NoteFault, right: NoteFault) -> Bool { left.code == right.code }

    /// Feeds the code to a hasher.
    package func hash(into hasher: inout Hasher) { hasher.combine(code) }

    /// Code and message, in one line.
    package var description: String { "\(code.rawValue): \(message)" }
}
