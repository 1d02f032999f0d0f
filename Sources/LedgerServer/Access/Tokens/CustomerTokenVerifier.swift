import Encodings
package import Entitlements

/// Checks the tokens by which customers ask for themselves: compact JWS with a JWT's claims,
/// signed by the operator's own backend.
package struct CustomerTokenVerifier: Sendable {
    private let keys: TokenKeys
    private let issuer: String?
    private let audience: String?

    /// Takes what a token must say; nil: anything, or nothing.
    ///
    /// `issuer` is `iss`; `audience` must be `aud` or among it.
    package init(keys: TokenKeys, issuer: String? = nil, audience: String? = nil) {
        self.keys = keys
        self.issuer = issuer
        self.audience = audience
    }

    /// Whose token it is, and how long it counts.
    ///
    /// Cost: that of `SignedToken`. Nothing of the token is trusted before.
    package func verify(
        _ token: some Collection<UInt8> & Sendable,
        at now: Instant
    ) -> Authentication<CustomerToken> {
        switch SignedToken.form(token, algorithms: TokenKeys.customers) {
        case .refused(let refusal): return .refused(refusal)
        case .accepted(let form):
            switch SignedToken.verify(form, by: keys) {
            case .accepted(let token): return self.token(token, at: now)
            case .refused(let refusal): return .refused(refusal)
            }
        }
    }

    private func token(_ token: SignedToken, at now: Instant) -> Authentication<CustomerToken> {
        guard let customer = token.claims.understood("sub").flatMap({ CustomerID($0) }),
            let expiresAt = token.expiresAt, let validFrom = token.validFrom
        else { return .refused(.badClaims) }
        if let issuer, !issuer.isSame(as: token.claims.understood("iss")) {
            return .refused(.wrongIssuer)
        }
        if let audience, !token.isFor(audience) { return .refused(.wrongAudience) }
        let token = CustomerToken(customer: customer, validFrom: validFrom, expiresAt: expiresAt)
        return token.refusal(at: now).map { .refused($0) } ?? .accepted(token)
    }
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
