import Encodings
import Entitlements
import EventLog
import JWTKit

/// A compact JWS with a JWT's claims (RFC 7519) whose signature holds.
///
/// JWTKit reads the keys and verifies signatures. The token itself is read here, strictly: JWTKit
/// holds `alg` against nothing, falls back to a default key, and takes lax base64.
package struct SignedToken: Hashable, Sendable {
    /// What it says; whom it is for and until when is not checked yet.
    let claims: ObjectReader

    /// Bytes that a token may have at most.
    package static let byteLimit = 8192
    /// How far an issuer's clock may run ahead of ours, for `nbf` and `iat`; `exp` is exact.
    package static let skewMilliseconds: Int64 = 60_000

    /// A token whose signature is not checked.
    struct Form: Hashable, Sendable {
        fileprivate var algorithm: TokenKeys.Algorithm
        fileprivate var keyID: String?
        /// What is signed: header and claims as they were sent.
        fileprivate var signed: [UInt8]
        fileprivate var claims: [UInt8]
        fileprivate var signature: [UInt8]
    }

    /// Reads a token as far as it can be read without a key.
    static func form(
        _ token: some Collection<UInt8>,
        algorithms: Set<TokenKeys.Algorithm>
    ) -> Authentication<Form> {
        guard token.count <= byteLimit else { return .refused(.malformed) }
        let parts = token.split(
            separator: UInt8(ascii: "."),
            maxSplits: 3,
            omittingEmptySubsequences: false
        )
        guard parts.count == 3,
            let signature = Base64.decode(Array(parts[2]).span, .url),
            let header = object(parts[0]), let name = header.understood("alg")
        else { return .refused(.malformed) }
        // By name: `none`, HMAC and whatever is not taken are refused before any key is looked at.
        guard let algorithm = TokenKeys.Algorithm(rawValue: name), algorithms.contains(algorithm)
        else { return .refused(.algorithm) }
        let keyID = header.understood("kid")
        // RFC 7515, section 4.1.11: what is critical and not understood is refused.
        guard header.value("crit") == nil, (keyID == nil) == (header.value("kid") == nil) else {
            return .refused(.malformed)
        }
        return .accepted(
            Form(
                algorithm: algorithm,
                keyID: keyID,
                signed: [UInt8](parts[0]) + [UInt8(ascii: ".")] + parts[1],
                claims: Array(parts[1]),
                signature: signature
            )
        )
    }

    /// Checks a token's signature.
    ///
    /// Cost: one signature verification (about 40 µs for ES256 and RS256, more for EdDSA) for each key
    /// that may be meant. Nothing of the token is trusted before.
    static func verify(_ form: Form, by keys: TokenKeys) -> Authentication<SignedToken> {
        let candidates = keys.candidates(form.algorithm, keyID: form.keyID)
        guard !candidates.isEmpty else { return .refused(.unknownIssuerKey) }
        let isSigned = candidates.contains {
            // A signature that cannot even be read is as wrong as one that does not verify.
            (try? $0.verify(form.signature, signs: form.signed)) == true
        }
        guard isSigned else { return .refused(.badSignature) }
        guard let claims = object(form.claims) else { return .refused(.malformed) }
        return .accepted(SignedToken(claims: claims))
    }

    /// The object of a part; nil: it is none.
    private static func object(_ part: some Collection<UInt8>) -> ObjectReader? {
        guard let bytes = Base64.decode(Array(part).span, .url),
            let json = try? JSONValue(parsing: bytes), json.members != nil
        else { return nil }
        return ObjectReader(json)
    }
}

/// The registered claims (RFC 7519, section 4.1).
extension SignedToken {
    /// `exp`: the first instant at which it no longer counts; nil: it is missing, or no date.
    var expiresAt: Instant? { claims.value("exp").flatMap(Self.date) }

    /// `nbf` and `iat`: the first instant at which it counts, the skew taken off; nil: no dates.
    var validFrom: Instant? {
        var validFrom = Instant(milliseconds: .min)
        for claim in ["nbf", "iat"].compactMap(claims.value) {
            guard let date = Self.date(claim) else { return nil }
            validFrom = max(validFrom, date.advanced(byMilliseconds: -Self.skewMilliseconds))
        }
        return validFrom
    }

    /// Whether somebody is `aud`, or among it.
    func isFor(_ audience: String) -> Bool {
        let claim = claims.value("aud")
        let named = claim?.array ?? claim.map { [$0] } ?? []
        return named.contains(.string(audience))
    }

    /// A `NumericDate`: seconds since 1970, which may have a fraction.
    private static func date(_ value: JSONValue) -> Instant? {
        guard case .number(let text) = value, let seconds = Double(text),
            seconds.magnitude <= latestSeconds
        else { return nil }
        // Fits: at most 1e14, and a fraction's product is rounded, never trapped on.
        return Instant(milliseconds: Int64((seconds * 1000).rounded(.down)))
    }

    /// The year 5138: later ones are mistakes, such as milliseconds.
    private static let latestSeconds = 1e11
}
