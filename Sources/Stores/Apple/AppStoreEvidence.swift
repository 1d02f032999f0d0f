public import Entitlements

/// Takes what the App Store sent apart, so that its certificates are stored once.
public enum AppStoreEvidence {
    /// A first part of a JWS that is shorter is not worth sharing: it holds no certificates.
    static let sharedByteMinimum = 512

    /// The pieces of a body, one after the other its exact bytes, whatever the body is.
    ///
    /// A compact JWS, by itself or anywhere in the body, becomes its header (shared), its payload
    /// (decoded, and taken apart in the same way) and its signature. All else stays as it is.
    /// Cost: linear in the body.
    public static func parts(of body: [UInt8]) -> [EvidencePart] {
        parts(of: body, depth: AppStoreLimits.nestedEvidenceDepth)
    }

    private static func parts(of body: [UInt8], depth: Int) -> [EvidencePart] {
        guard depth > 0 else { return [.bytes(body)] }
        var parts: [EvidencePart] = []
        var plain: [UInt8] = []
        var position = 0
        while position < body.count {
            let end = wordEnd(in: body, from: position)
            if let jws = jws(in: body, position..<end) {
                if !plain.isEmpty { parts.append(.bytes(plain)) }
                parts.append(.shared(Array(jws.header)))
                parts.append(.bytes([dot]))
                parts.append(.base64URL(Self.parts(of: jws.payload, depth: depth - 1)))
                plain = Array(jws.rest)
                position = end
            } else {
                // The word, and the byte that ends it.
                let next = min(end + 1, body.count)
                plain += body[position..<next]
                position = next
            }
        }
        if !plain.isEmpty { parts.append(.bytes(plain)) }
        return parts
    }

    private static let dot = UInt8(ascii: ".")

    /// The end of a run of base64url digits and dots.
    private static func wordEnd(in body: [UInt8], from start: Int) -> Int {
        var end = start
        while end < body.count, body[end] == dot || Base64.isURLDigit(body[end]) { end += 1 }
        return end
    }

    /// A word of three parts whose first is long enough and whose second is canonical base64url,
    /// so that encoding it again gives the same bytes.
    private static func jws(
        in body: [UInt8],
        _ word: Range<Int>
    ) -> (header: ArraySlice<UInt8>, payload: [UInt8], rest: ArraySlice<UInt8>)? {
        guard let first = body[word].firstIndex(of: dot),
            first - word.lowerBound >= sharedByteMinimum,
            let second = body[(first + 1)..<word.upperBound].firstIndex(of: dot),
            !body[(second + 1)..<word.upperBound].contains(dot),
            second > first + 1,
            let payload = Base64.decode(body.span.extracting((first + 1)..<second), .url)
        else { return nil }
        return (body[word.lowerBound..<first], payload, body[second..<word.upperBound])
    }
}
