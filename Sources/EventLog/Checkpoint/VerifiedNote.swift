/// A text of which at least one signature by a known key was checked.
package struct VerifiedNote: Hashable, Sendable {
    /// The signed text; ends in a newline.
    package let text: String
    /// The keys whose signatures were checked, each once, in the order of the lines.
    package let keys: [VerifierKey]
}

extension SignedNote {
    /// Checks the signatures of known keys and ignores those of others (C2SP signed-note).
    ///
    /// A key is known by name and id together. A second signature by the same key is checked too.
    ///
    /// - Throws: ``NoteFault`` `invalidSignature` where one of a known key is wrong, whatever the
    ///   others say; `noKnownSignature` where none is by a known key.
    package func verified(by known: [VerifierKey]) throws(NoteFault) -> VerifiedNote {
        var keys: [VerifierKey] = []
        for signature in signatures {
            for key in known where signature.names(key) {
                guard key.accepts(signature.bytes, of: text) else {
                    throw NoteFault(.invalidSignature, "a signature of \(key.name) is wrong")
                }
                if !keys.contains(key) { keys.append(key) }
            }
        }
        guard !keys.isEmpty else {
            throw NoteFault(.noKnownSignature, "no signature is by a known key")
        }
        return VerifiedNote(text: text, keys: keys)
    }
}
