import Encodings

/// A compact JWS whose second part was read, so that nobody decodes it again.
struct DecodedJWS: Hashable, Sendable {
    /// As received.
    let text: CompactJWS
    /// The second part, decoded.
    let payload: [UInt8]
    /// The second part as JSON.
    let json: JSONValue

    /// The whole text.
    var bytes: [UInt8] { text.bytes }

    /// Whether the first two parts stand at a place of some bytes.
    func stands(at start: Int, in bytes: [UInt8]) -> Bool {
        let count = text.payloadEnd
        guard count <= bytes.count - start else { return false }
        return bytes.span.extracting(start..<start + count)
            .holdsSame(as: text.bytes.span.extracting(0..<count))
    }
}

extension [DecodedJWS] {
    /// What the second part of a text says that is one of these; nil: it is none.
    func json(of text: Span<UInt8>) -> JSONValue? {
        first { $0.bytes.span.holdsSame(as: text) }?.json
    }
}
