import Encodings

extension Digest: CustomStringConvertible {
    /// The bytes as standard base64: 44 characters, as checkpoints write them.
    package var base64: String { Base64.encode(bytes.span) }

    /// The bytes as 64 hexadecimal digits in lower case.
    package var hex: String { Hexadecimal.encode(bytes) }

    /// The hexadecimal text.
    package var description: String { hex }

    /// Reads strict standard base64, or nil where it is not 32 bytes of it.
    package init?(base64: String) {
        guard let bytes = Base64.decode(base64) else { return nil }
        self.init(exactly: bytes.span)
    }

    /// Reads hexadecimal digits of either case, or nil where they are not 64.
    package init?(hex: String) {
        guard let bytes = Hexadecimal.decode(hex) else { return nil }
        self.init(exactly: bytes.span)
    }
}
