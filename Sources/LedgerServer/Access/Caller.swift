package import Entitlements

/// Who asks.
package enum Caller: Hashable, Sendable {
    /// Nobody in particular: the request carries no credential.
    case anonymous
    /// An application, by the id of its key.
    case key(id: String, scopes: ScopeSet)
    /// A customer, by a token of the operator's.
    case customer(id: CustomerID)

    /// Whoever may read and write the ledger's directory, by a socket in it: an id that no key has, and by
    /// which accesses of commands are noted.
    static let owner = Caller.key(id: "command", scopes: [.admin])

    /// Whether the caller's key has a scope.
    package func has(_ scope: Scope) -> Bool {
        guard case .key(_, let scopes) = self else { return false }
        return scopes.allows(scope)
    }

    /// Whether the caller's key has one of some scopes.
    package func has(anyOf scopes: ScopeSet) -> Bool {
        guard case .key(_, let own) = self else { return false }
        return own.allows(anyOf: scopes)
    }

    /// The id of the caller's key; nil: it has none.
    var keyID: String? {
        guard self != .owner, self != .console, case .key(let id, _) = self else { return nil }
        return id
    }

    /// Whether the caller is that very customer (row 9.4).
    package func isCustomer(_ id: CustomerID) -> Bool { self == .customer(id: id) }
}

/// What comes of a credential.
package enum Authentication<Subject: Equatable & Sendable>: Equatable, Sendable {
    /// It counts, for whom it says.
    case accepted(Subject)
    /// It does not count.
    case refused(AuthenticationRefusal)

    /// For whom it counts; nil: it does not.
    package var subject: Subject? {
        guard case .accepted(let subject) = self else { return nil }
        return subject
    }

    /// An authentication of what is made of the subject.
    package func map<Other>(_ transform: (Subject) -> Other) -> Authentication<Other> {
        switch self {
        case .accepted(let subject): .accepted(transform(subject))
        case .refused(let refusal): .refused(refusal)
        }
    }
}

/// Why a credential that was presented does not count.
///
/// For counters and logs. The answer to the outside is one and the same for all: it tells neither
/// whether a key exists nor what is wrong with a token.
package enum AuthenticationRefusal: String, CaseIterable, Sendable {
    /// Several credentials, another scheme, or no credential in it.
    case malformed
    /// No key of that text: never made, mistyped or revoked.
    case unknownKey = "unknown_key"
    /// A key or token whose time is over.
    case expired
    /// A token that counts only later.
    case notYetValid = "not_yet_valid"
    /// A token that is signed by an algorithm that is not taken.
    case algorithm
    /// A token of an issuer's key that is not configured.
    case unknownIssuerKey = "unknown_issuer_key"
    /// A token whose signature is wrong.
    case badSignature = "bad_signature"
    /// A token without the claims that it must have.
    case badClaims = "bad_claims"
    /// A token of another issuer.
    case wrongIssuer = "wrong_issuer"
    /// A token for somebody else.
    case wrongAudience = "wrong_audience"
    /// A token of another account of its issuer's.
    case wrongAccount = "wrong_account"
    /// A token, but the server takes none.
    case notConfigured = "not_configured"

    /// `WWW-Authenticate` for a credential that does not count (RFC 6750, section 3).
    package static let challenge = #"Bearer realm="entitlement-ledger", error="invalid_token""#
    /// `WWW-Authenticate` for a request that carries none.
    package static let challengeWithoutCredential = #"Bearer realm="entitlement-ledger""#
}
