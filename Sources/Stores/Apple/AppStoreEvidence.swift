import Encodings
import Entitlements

/// Takes what the App Store sent apart, so that its certificates are stored once.
enum AppStoreEvidence {
    /// How deep a JWS may stand inside another; deeper ones stay as they are.
    private static let depthLimit = 4

    /// The pieces of a body, one after the other its exact bytes, whatever the body is.
    ///
    /// A compact JWS under one of the headers, by itself or anywhere in the body, becomes its
    /// header (shared), its payload (decoded, and taken apart in the same way) and its signature.
    /// All else stays as it is: what is shared is kept in clear, and only a header that was
    /// verified is known to hold nothing but certificates. Cost: linear in the body.
    static func parts(of body: [UInt8], headers: [[UInt8]]) -> [EvidencePart] {
        parts(of: body, headers, depth: depthLimit)
    }

    /// The first part of a compact JWS, as text.
    static func header(of jws: [UInt8]) -> [UInt8] {
        Array(jws[..<(jws.firstIndex(of: dot) ?? jws.endIndex)])
    }

    private static let dot = UInt8(ascii: ".")

    private static func parts(
        of body: [UInt8],
        _ headers: [[UInt8]],
        depth: Int
    ) -> [EvidencePart] {
        guard depth > 0 else { return [.bytes(body)] }
        var parts: [EvidencePart] = []
        // What was passed over since the last piece.
        var start = 0
        var position = 0
        while position < body.count {
            if let jws = jws(at: position, in: body, headers) {
                if start < position { parts.append(.bytes(Array(body[start..<position]))) }
                parts.append(.shared(jws.header))
                parts.append(.bytes([dot]))
                parts.append(.base64URL(Self.parts(of: jws.payload, headers, depth: depth - 1)))
                start = jws.payloadEnd
                position = start
            }
            // After the word, and the byte that ends it.
            position = wordEnd(in: body, from: position) + 1
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
    private static func jws(
        at start: Int,
        in body: [UInt8],
        _ headers: [[UInt8]]
    ) -> (header: [UInt8], payload: [UInt8], payloadEnd: Int)? {
        let known = headers.first { header in
            let end = start + header.count
            return end < body.count && body[end] == dot
                && body.span.extracting(start..<end).holdsSame(as: header.span)
        }
        // The payload's digits are checked where it is decoded.
        guard let header = known, case let first = start + header.count,
            let second = body[(first + 1)...].firstIndex(of: dot),
            let payload = Base64.decode(body.span.extracting((first + 1)..<second), .url)
        else { return nil }
        return (header, payload, second)
    }
}
