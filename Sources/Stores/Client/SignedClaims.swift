import Encodings

/// A JSON Web Token by which we tell a store who asks (RFC 7519, in the compact form of RFC 7515).
enum SignedClaims {
    /// Header and claims, signed; `sign` gives the signature's bytes as the header's `alg` wants them.
    static func text(
        header: JSONValue,
        claims: JSONValue,
        sign: (_ signed: [UInt8]) throws -> [UInt8]
    ) throws -> String {
        let signed = [header, claims]
            .map { Base64.encode(Array($0.description.utf8).span, .url) }.joined(separator: ".")
        let signature = try sign(Array(signed.utf8))
        return signed + "." + Base64.encode(signature.span, .url)
    }
}
