import Encodings
import Entitlements

/// Takes what the App Store sent apart, so that its certificates are stored once.
struct AppStoreEvidence {
    /// First parts of signed messages, as text, that were verified.
    let headers: [[UInt8]]
    /// Messages under them that were read before.
    var decoded: [DecodedJWS] = []

    /// How deep a JWS may stand inside another; deeper ones stay as they are.
    private static let depthLimit = 4
    private static let dot = UInt8(ascii: ".")

    /// The pieces of a body, one after the other its exact bytes, whatever the body is.
    ///
    /// A compact JWS under one of the headers, by itself or anywhere in the body, becomes its
    /// header (shared), its payload (decoded, and taken apart in the same way) and its signature.
    /// All else stays as it is: what is shared is kept in clear, and only a header that was
    /// verified is known to hold nothing but certificates. Cost: linear in the body.
    func parts(of body: [UInt8]) -> [EvidencePart] { parts(of: body, depth: Self.depthLimit) }

    private func parts(of body: [UInt8], depth: Int) -> [EvidencePart] {
        guard depth > 0 else { return [.bytes(body)] }
        var parts: [EvidencePart] = []
        // What was passed over since the last piece.
        var start = 0
        var position = 0
        while position < body.count {
            if let jws = jws(at: position, in: body) {
                if start < position { parts.append(.bytes(Array(body[start..<position]))) }
                parts.append(.shared(jws.header))
                parts.append(.bytes([Self.dot]))
                parts.append(.base64URL(self.parts(of: jws.payload, depth: depth - 1)))
                start = jws.payloadEnd
                position = start
            }
            // After the word, and the byte that ends it.
            position = Self.wordEnd(in: body, from: position) + 1
        }
        if start < body.count { parts.append(.bytes(Array(body[start...]))) }
        return parts
    }

    /// The end of a run of base64url digits and dots.
    private static func wordEnd(in body: [UInt8], from start: Int) -> Int {
        var end = start
        while end < body.count, body[end] == dot || Base64.isURLDigit(body[end]) { end += 1 }
        return end
    }

    /// A word that begins with a header and whose second part is canonical base64url, so that
    /// encoding it again gives the same bytes.
    ///
    /// The headers are few and known: they are compared, not looked for.
    private func jws(
        at start: Int,
        in body: [UInt8]
    ) -> (header: [UInt8], payload: [UInt8], payloadEnd: Int)? {
        let known = headers.first { header in
            let end = start + header.count
            return end < body.count && body[end] == Self.dot
                && body.span.extracting(start..<end).holdsSame(as: header.span)
        }
        guard let header = known else { return nil }
        if let read = decoded.first(where: { $0.stands(at: start, in: body) }),
            case let end = start + read.text.payloadEnd, end < body.count, body[end] == Self.dot
        {
            return (header, read.payload, end)
        }
        // The payload's digits are checked where it is decoded.
        guard case let first = start + header.count,
            let second = body[(first + 1)...].firstIndex(of: Self.dot),
            let payload = Base64.decode(body.span.extracting((first + 1)..<second), .url)
        else { return nil }
        return (header, payload, second)
    }
}
