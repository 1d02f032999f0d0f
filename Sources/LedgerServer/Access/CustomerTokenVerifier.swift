import Encodings
package import Entitlements
import EventLog
import JWTKit

/// Checks the tokens by which customers ask for themselves: compact JWS with a JWT's claims,
/// signed by the operator's own backend.
///
/// JWTKit reads the keys and verifies signatures. The token itself is read here, strictly: JWTKit
/// holds `alg` against nothing, falls back to a default key, and takes lax base64.
package struct CustomerTokenVerifier: Sendable {
    private let keys: CustomerTokenKeys
    private let issuer: String?
    private let audience: String?

    /// Bytes that a token may have at most.
    package static let byteLimit = 8192
    /// How far an issuer's clock may run ahead of ours, for `nbf` and `iat`; `exp` is exact.
    package static let skewMilliseconds: Int64 = 60_000

    /// Takes what a token must say; nil: anything, or nothing.
    ///
    /// `issuer` is `iss`; `audience` must be `aud` or among it.
    package init(keys: CustomerTokenKeys, issuer: String? = nil, audience: String? = nil) {
        self.keys = keys
        self.issuer = issuer
        self.audience = audience
    }

    /// Whose token it is, and how long it counts.
    ///
    /// Cost: one signature verification (about 40 µs for ES256, more for EdDSA) for each key that
    /// may be meant. Nothing of the token is trusted before.
    package func verify(
        _ token: some Collection<UInt8> & Sendable,
        at now: Instant
    ) -> Result<CustomerToken, AuthenticationRefusal> {
        Result { () throws(AuthenticationRefusal) in
            guard token.count <= Self.byteLimit else { throw .malformed }
            let parts = token.split(
                separator: UInt8(ascii: "."),
                maxSplits: 3,
                omittingEmptySubsequences: false
            )
            guard parts.count == 3, let signature = Base64.decode(Array(parts[2]).span, .url) else {
                throw .malformed
            }
            let header = try Self.object(parts[0])
            let algorithm = try Self.algorithm(header)
            let candidates = keys.candidates(algorithm, keyID: try Self.keyID(header))
            guard !candidates.isEmpty else { throw .unknownIssuerKey }
            let signed = [UInt8](parts[0]) + [UInt8(ascii: ".")] + parts[1]
            // A signature that cannot even be read is as wrong as one that does not verify.
            guard candidates.contains(where: { (try? $0.verify(signature, signs: signed)) == true })
            else { throw .badSignature }
            return try claims(try Self.object(parts[1]), at: now)
        }
    }

    private static func object(
        _ part: some Collection<UInt8>
    ) throws(AuthenticationRefusal) -> JSONValue {
        guard let bytes = Base64.decode(Array(part).span, .url),
            let json = try? JSONValue(parsing: bytes), json.members != nil
        else { throw .malformed }
        return json
    }

    /// Only the two by name: `none`, HMAC and RSA are refused before any key is looked at.
    private static func algorithm(
        _ header: JSONValue
    ) throws(AuthenticationRefusal) -> CustomerTokenKeys.Algorithm {
        guard let name = header["alg"]?.string else { throw .malformed }
        guard let algorithm = CustomerTokenKeys.Algorithm(rawValue: name) else { throw .algorithm }
        // RFC 7515, section 4.1.11: what is critical and not understood is refused.
        guard header["crit"] == nil else { throw .malformed }
        return algorithm
    }

    private static func keyID(_ header: JSONValue) throws(AuthenticationRefusal) -> String? {
        guard let value = header["kid"] else { return nil }
        guard let id = value.string else { throw .malformed }
        return id
    }

    /// The registered claims (RFC 7519, section 4.1).
    private func claims(
        _ claims: JSONValue,
        at now: Instant
    ) throws(AuthenticationRefusal) -> CustomerToken {
        guard let customer = claims["sub"]?.string, Identifier.isValid(customer),
            let expiresAt = claims["exp"].flatMap(Self.date)
        else { throw .badClaims }
        if let issuer, !issuer.isSame(as: claims["iss"]?.string) { throw .wrongIssuer }
        if let audience {
            let named = claims["aud"]?.array ?? claims["aud"].map { [$0] } ?? []
            guard named.contains(.string(audience)) else { throw .wrongAudience }
        }
        var validFrom = Instant(milliseconds: .min)
        for name in ["nbf", "iat"] {
            guard let claim = claims[name] else { continue }
            guard let date = Self.date(claim) else { throw .badClaims }
            validFrom = max(validFrom, date.advanced(byMilliseconds: -Self.skewMilliseconds))
        }
        let token = CustomerToken(customer: customer, validFrom: validFrom, expiresAt: expiresAt)
        if let refusal = token.refusal(at: now) { throw refusal }
        return token
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

/// A token that was verified.
package struct CustomerToken: Hashable, Sendable {
    /// `sub`: whom it lets in.
    package var customer: String
    /// The first instant at which it counts, the skew taken off.
    package var validFrom: Instant
    /// The first instant at which it no longer counts.
    package var expiresAt: Instant

    /// Why it does not count at an instant; nil if it does.
    func refusal(at now: Instant) -> AuthenticationRefusal? {
        if now >= expiresAt { return .expired }
        return now < validFrom ? .notYetValid : nil
    }
}
