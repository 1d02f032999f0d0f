import Crypto
package import Entitlements
import Synchronization

/// Tells from a request's headers who asks.
///
/// Store signals are not asked here: they come with their store's signature or secret, some of them
/// in `Authorization` too.
package final class Authenticator: Sendable {
    private let keys: KeyRing
    private let customers: Mutex<Customers>

    private struct Customers {
        var verifier: CustomerTokenVerifier?
        /// How often the verifier was renewed.
        var renewals = 0
        /// Tokens that were verified by it, by their digest: no token stays in memory.
        var verified = Generations<SHA256.Digest, CustomerToken>(limit: tokenLimit)
    }

    /// Verified tokens that are remembered in one generation.
    package static let tokenLimit = 10_000

    /// Makes an authenticator; without a verifier it takes no customer tokens.
    package init(keys: KeyRing, customers: CustomerTokenVerifier? = nil) {
        self.keys = keys
        self.customers = Mutex(Customers(verifier: customers))
    }

    /// Takes who issues customer tokens from now on; what was verified before is forgotten.
    func renew(customers verifier: CustomerTokenVerifier?) {
        customers.withLock { customers in
            customers = Customers(verifier: verifier, renewals: customers.renewals + 1)
        }
    }

    /// Who asks, by all values of the request's `Authorization` and `X-API-Key`.
    ///
    /// Takes one credential, `Authorization: Bearer KEY-OR-TOKEN` or `X-API-Key: KEY`; none is
    /// `.anonymous`. Cost: one SHA-256 of the credential and a look-up; for a customer token that
    /// was not seen before a verification too.
    package func caller(
        authorization: [String],
        apiKey: [String],
        at now: Instant
    ) -> Authentication<Caller> {
        switch (authorization.count, apiKey.count) {
        case (0, 0): return .accepted(.anonymous)
        case (1, 0):
            guard let credential = Self.bearer(authorization[0]) else {
                return .refused(.malformed)
            }
            return credential.starts(with: APIKey.prefix.utf8)
                ? key(credential, at: now) : customer(credential, at: now)
        case (0, 1):
            guard apiKey[0].utf8.count == APIKey.textLength else { return .refused(.unknownKey) }
            return key(Array(apiKey[0].utf8), at: now)
        // Which of two counts would be a guess (RFC 6750, section 2).
        default: return .refused(.malformed)
        }
    }

    /// Whether a key that was accepted still is, with the same scopes.
    func stands(_ caller: Caller, at now: Instant) -> Bool {
        guard let id = caller.keyID, case .key(_, let scopes) = caller else { return true }
        return self.scopes(ofKey: id, at: now) == scopes
    }

    /// What a key may; nil: it does not count any more.
    func scopes(ofKey id: String, at now: Instant) -> ScopeSet? {
        guard let key = keys.key(id, at: now), key.expiresAt.map({ now < $0 }) ?? true else {
            return nil
        }
        return key.scopes
    }

    /// What follows `Bearer ` (RFC 9110, section 11.4: any case, one or more spaces).
    static func bearer(_ value: String) -> [UInt8]? {
        let bytes = value.utf8
        let space = UInt8(ascii: " ")
        guard bytes.count <= SignedToken.byteLimit + scheme.count + 1,
            // Setting this bit turns an ASCII letter, and nothing else, into a lower-case one.
            bytes.prefix(scheme.count).elementsEqual(scheme, by: { $0 | 0x20 == $1 })
        else { return nil }
        let rest = bytes.dropFirst(scheme.count)
        let credential = rest.drop { $0 == space }
        return rest.first == space && !credential.isEmpty ? Array(credential) : nil
    }

    private static let scheme = Array("bearer".utf8)

    private func key(_ text: [UInt8], at now: Instant) -> Authentication<Caller> {
        guard let id = APIKey.id(in: text) else { return .refused(.unknownKey) }
        // Hashed before it is looked up, so that an id that exists costs no more than another.
        let digest = SHA256.hash(data: text)
        guard let key = keys.key(id, at: now), key.matches(digest) else {
            return .refused(.unknownKey)
        }
        if let end = key.expiresAt, now >= end { return .refused(.expired) }
        return .accepted(.key(id: id, scopes: key.scopes))
    }

    private func customer(
        _ token: [UInt8],
        at now: Instant
    ) -> Authentication<Caller> {
        let digest = SHA256.hash(data: token)
        let (verifier, renewals, known) = customers.withLock {
            ($0.verifier, $0.renewals, $0.verified[digest])
        }
        guard let verifier else { return .refused(.notConfigured) }
        if let known {
            if let refusal = known.refusal(at: now) { return .refused(refusal) }
            return .accepted(.customer(id: known.customer))
        }
        return verifier.verify(token, at: now).map { found in
            customers.withLock {
                // Another verifier may not take it.
                if $0.renewals == renewals { $0.verified.set(found, for: digest) }
            }
            return .customer(id: found.customer)
        }
    }
}
