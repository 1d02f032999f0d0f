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
    ) -> Authentication<CustomerToken> {
        guard token.count <= Self.byteLimit else { return .refused(.malformed) }
        let parts = token.split(
            separator: UInt8(ascii: "."),
            maxSplits: 3,
            omittingEmptySubsequences: false
        )
        guard parts.count == 3,
            let signature = Base64.decode(Array(parts[2]).span, .url),
            let header = Self.object(parts[0]), let name = header.understood("alg")
        else { return .refused(.malformed) }
        // Only the two by name: `none`, HMAC and RSA are refused before any key is looked at.
        guard let algorithm = CustomerTokenKeys.Algorithm(rawValue: name) else {
            return .refused(.algorithm)
        }
        let keyID = header.understood("kid")
        // RFC 7515, section 4.1.11: what is critical and not understood is refused.
        guard header.value("crit") == nil, (keyID == nil) == (header.value("kid") == nil) else {
            return .refused(.malformed)
        }
        let candidates = keys.candidates(algorithm, keyID: keyID)
        guard !candidates.isEmpty else { return .refused(.unknownIssuerKey) }
        let signed = [UInt8](parts[0]) + [UInt8(ascii: ".")] + parts[1]
        // A signature that cannot even be read is as wrong as one that does not verify.
        guard candidates.contains(where: { (try? $0.verify(signature, signs: signed)) == true })
        else { return .refused(.badSignature) }
        guard let claims = Self.object(parts[1]) else { return .refused(.malformed) }
        return self.token(claims, at: now)
    }

    /// The object of a part; nil: it is none.
    private static func object(_ part: some Collection<UInt8>) -> ObjectReader? {
        guard let bytes = Base64.decode(Array(part).span, .url),
            let json = try? JSONValue(parsing: bytes), json.members != nil
        else { return nil }
        return ObjectReader(json)
    }

    /// The registered claims (RFC 7519, section 4.1).
    private func token(_ claims: ObjectReader, at now: Instant) -> Authentication<CustomerToken> {
        guard let customer = claims.understood("sub").flatMap({ CustomerID($0) }),
            let expiresAt = claims.value("exp").flatMap(Self.date)
        else { return .refused(.badClaims) }
        if let issuer, !issuer.isSame(as: claims.understood("iss")) {
            return .refused(.wrongIssuer)
        }
        if let audience {
            let claim = claims.value("aud")
            let named = claim?.array ?? claim.map { [$0] } ?? []
            guard named.contains(.string(audience)) else { return .refused(.wrongAudience) }
        }
        var validFrom = Instant(milliseconds: .min)
        for claim in ["nbf", "iat"].compactMap(claims.value) {
            guard let date = Self.date(claim) else { return .refused(.badClaims) }
            validFrom = max(validFrom, date.advanced(byMilliseconds: -Self.skewMilliseconds))
        }
        let token = CustomerToken(customer: customer, validFrom: validFrom, expiresAt: expiresAt)
        return token.refusal(at: now).map { .refused($0) } ?? .accepted(token)
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
    package var customer: CustomerID
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
