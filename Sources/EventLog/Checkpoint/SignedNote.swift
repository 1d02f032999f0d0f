import Encodings

/// One signature line of a note.
package struct NoteSignature: Hashable, Sendable {
    /// The name of the key.
    package var name: String
    /// The id of the key.
    package var keyID: UInt32
    /// The signature itself, without the key id; 64 bytes for Ed25519.
    package var bytes: [UInt8]

    /// Makes a signature from its parts.
    package init(name: String, keyID: UInt32, bytes: [UInt8]) {
        self.name = name
        self.keyID = keyID
        self.bytes = bytes
    }

    /// The line: em dash, space, name, space, base64 of key id and signature, newline.
    var line: String {
        let id = (0..<4).map { UInt8(truncatingIfNeeded: keyID >> (24 - 8 * $0)) }
        return "\u{2014} \(name) \(Base64.encode((id + bytes).span))\n"
    }
}

/// A text with signatures that nobody has checked yet (C2SP signed-note).
///
/// The text is of no use before ``verified(by:)`` has accepted it.
package struct SignedNote: Hashable, Sendable, CustomStringConvertible {
    /// The most signatures that a note may have; C2SP asks for at least 16.
    package static let signatureLimit = 100
    /// The most bytes that a note may have.
    package static let byteLimit = 1_000_000

    /// The signed text; ends in a newline.
    package let text: String
    /// The signatures, in the order of their lines; at least one.
    package let signatures: [NoteSignature]

    /// Puts a note together.
    ///
    /// - Throws: ``NoteFault`` `malformedNote` or `tooLarge` where ``parse(_:)`` would refuse what
    ///   comes out.
    package init(text: String, signatures: [NoteSignature]) throws(NoteFault) {
        let whole = text + "\n" + signatures.map(\.line).joined()
        let parsed = try Self.parse(whole)
        guard parsed.text.isSame(as: text) else {
            throw NoteFault(.malformedNote, "the text does not end in a newline")
        }
        self = parsed
    }

    fileprivate init(unchecked text: String, _ signatures: [NoteSignature]) {
        self.text = text
        self.signatures = signatures
    }

    /// The note as it is published: text, empty line, signature lines.
    package var description: String {
        text + "\n" + signatures.map(\.line).joined()
    }

    /// Reads a note; verifies nothing.
    ///
    /// - Throws: ``NoteFault`` `malformedNote` where the form is wrong, `tooLarge` above a limit.
    package static func parse(_ note: String) throws(NoteFault) -> SignedNote {
        let bytes = Array(note.utf8)
        guard bytes.count <= byteLimit else {
            throw NoteFault(.tooLarge, "a note has at most \(byteLimit) bytes")
        }
        guard bytes.allSatisfy({ $0 >= 0x20 || $0 == newline }) else {
            throw NoteFault(.malformedNote, "a note has no control character but newlines")
        }
        guard bytes.last == newline, let split = endOfText(in: bytes) else {
            throw NoteFault(.malformedNote, "text and signatures are parted by an empty line")
        }
        let lines = bytes[(split + 1)...].dropLast()
            .split(separator: newline, omittingEmptySubsequences: false)
        guard lines.count <= signatureLimit else {
            throw NoteFault(.tooLarge, "a note has at most \(signatureLimit) signatures")
        }
        var signatures: [NoteSignature] = []
        for line in lines { signatures.append(try signature(in: line)) }
        return SignedNote(unchecked: String(decoding: bytes[..<split], as: UTF8.self), signatures)
    }

    /// Where the text ends: after the first newline of the last pair of them.
    private static func endOfText(in bytes: [UInt8]) -> Int? {
        bytes.indices.dropFirst().last { bytes[$0] == newline && bytes[$0 - 1] == newline }
    }

    static func signature(in line: ArraySlice<UInt8>) throws(NoteFault) -> NoteSignature {
        let text = String(decoding: line, as: UTF8.self)
        let fields = text.unicodeScalars
            .split(separator: " ", omittingEmptySubsequences: false).map(String.init)
        guard fields.count == 3, fields[0].isSame(as: "\u{2014}"),
            NoteName.isValid(fields[1]),
            let bytes = Base64.decode(fields[2]), bytes.count > 4
        else {
            throw NoteFault(.malformedNote, "a signature line is dash, name and base64")
        }
        return NoteSignature(
            name: fields[1],
            keyID: VerifierKey.bigEndian(bytes.prefix(4)),
            bytes: Array(bytes.dropFirst(4))
        )
    }

    private static let newline = UInt8(ascii: "\n")
}
