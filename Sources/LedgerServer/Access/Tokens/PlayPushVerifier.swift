import Encodings
package import Entitlements
package import Stores

/// Checks the token by which Pub/Sub shows that a push is for us and from whom we expect it (Stores,
/// rule 3; cloud.google.com/pubsub/docs/authenticate-push-subscriptions).
package struct PlayPushVerifier: Sendable {
    private let identity: PlayPushIdentity
    let keys: IssuerKeys

    /// Where the keys come from.
    var keysURL: String { identity.keysURL }

    /// Who Google is, in either form.
    private static let issuers: [String] = [
        "https://accounts.google.com", "accounts.google.com",
    ]

    /// Takes who must have pushed, and where Google's keys are.
    package init(_ identity: PlayPushIdentity, keys: IssuerKeys) {
        self.identity = identity
        self.keys = keys
    }

    /// Whether a token is Google's for our endpoint, by the service account that was configured.
    ///
    /// Cost: one RSA verification; a fetch of the keys where they lapsed or a new one is named.
    /// - Throws: `IssuerKeys.Unavailable` where that cannot be told now: it may be tried again.
    package func verify(
        _ token: some Collection<UInt8> & Sendable,
        at now: Instant
    ) async throws(IssuerKeys.Unavailable) -> Authentication<PlayPushIdentity> {
        let form: SignedToken.Form
        switch SignedToken.form(token, algorithms: TokenKeys.google) {
        case .accepted(let read): form = read
        // What is none is no reason to read keys.
        case .refused(let refusal): return .refused(refusal)
        }
        var signed = SignedToken.verify(form, by: try await keys.current(at: now))
        // Keys are rotated while tokens are on their way.
        if case .refused(.unknownIssuerKey) = signed, let newer = await keys.newer(at: now) {
            signed = SignedToken.verify(form, by: newer)
        }
        switch signed {
        case .refused(let refusal): return .refused(refusal)
        case .accepted(let token): return check(token, at: now)
        }
    }

    /// Fetches Google's keys where those that are kept will have lapsed by an instant; false: they cannot be
    /// had now, and those that are kept go on.
    func fetchesKeys(lapsedBy end: Instant, at now: Instant) async -> Bool {
        await keys.renew(lapsedBy: end, at: now)
    }

    private func check(_ token: SignedToken, at now: Instant) -> Authentication<PlayPushIdentity> {
        guard let expiresAt = token.expiresAt, let validFrom = token.validFrom else {
            return .refused(.badClaims)
        }
        guard Self.issuers.contains(where: { $0.isSame(as: token.claims.understood("iss")) }) else {
            return .refused(.wrongIssuer)
        }
        guard token.isFor(identity.audience) else { return .refused(.wrongAudience) }
        // Anybody with a project at Google has tokens of theirs: the account tells who it is.
        guard identity.serviceAccount.isSame(as: token.claims.understood("email")),
            token.claims.value("email_verified")?.bool == true
        else { return .refused(.wrongAccount) }
        if now >= expiresAt { return .refused(.expired) }
        return now < validFrom ? .refused(.notYetValid) : .accepted(identity)
    }
}
