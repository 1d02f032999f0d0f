package import Entitlements

/// Whose requests are counted together, and against which quota (row 9.6).
package enum RateLimitPolicy: String, CaseIterable, Sendable {
    /// Store signals, by the address that they come from: nobody else's flood costs a store its
    /// deliveries.
    case signals
    /// Requests with an API key, by its id.
    case keys
    /// Requests with a customer token, by the customer.
    case customers
    /// Requests without a credential, by address.
    case anonymous
    /// Credentials and webhooks' secrets that did not count, by address.
    case failures
    /// Bytes of the bodies that a customer's tokens hand in, by the customer.
    case appends
    /// Times that a customer has the stores asked about themselves, by the customer: each is many questions of
    /// an account that all customers share.
    case restores
    /// Purchases that a customer's tokens name for a store to be asked about, by the customer: who invents them
    /// asks by the same account.
    case questions

    /// The place among all cases, from 0.
    var place: Int {
        switch self {
        case .signals: 0
        case .keys: 1
        case .customers: 2
        case .anonymous: 3
        case .failures: 4
        case .appends: 5
        case .restores: 6
        case .questions: 7
        }
    }

    /// What is counted (`qu` of draft-ietf-httpapi-ratelimit-headers); nil: requests.
    var unit: String? { self == .appends ? "content-bytes" : nil }
}

/// How many requests one client may make in which time, or how many bytes it may hand in: a bucket
/// of `requests` tokens that fills evenly within `windowSeconds`.
package struct RateLimitQuota: Hashable, Sendable {
    /// 1 to 1 000 000 000.
    package let requests: Int64
    /// 1 to 86 400.
    package let windowSeconds: Int64

    /// Makes a quota, or nil out of range.
    package init?(requests: Int64, windowSeconds: Int64) {
        guard (1...1_000_000_000).contains(requests), (1...86_400).contains(windowSeconds) else {
            return nil
        }
        self.init(checked: requests, windowSeconds)
    }

    private init(checked requests: Int64, _ windowSeconds: Int64) {
        self.requests = requests
        self.windowSeconds = windowSeconds
    }

    /// What holds unless it is configured.
    ///
    /// A key is an application's server with all of its customers behind it, and Apple delivers
    /// from few addresses: both get a thousand a second.
    package static func standard(_ policy: RateLimitPolicy) -> RateLimitQuota {
        switch policy {
        case .signals, .keys: RateLimitQuota(checked: 60_000, 60)
        case .customers: RateLimitQuota(checked: 600, 60)
        case .anonymous: RateLimitQuota(checked: 300, 60)
        case .failures: RateLimitQuota(checked: 30, 60)
        case .appends: RateLimitQuota(checked: 20_000_000, 60)
        case .restores: RateLimitQuota(checked: 10, 600)
        case .questions: RateLimitQuota(checked: 60, 600)
        }
    }
}

/// A client as a rate limiter tells it from others.
package struct RateLimitClient: Hashable, Sendable {
    let identity: IdentityHash

    /// An API key, by its id.
    package static func key(_ id: String) -> Self { Self(identity: IdentityHash(kind: 0, id)) }

    /// A customer.
    package static func customer(_ id: CustomerID) -> Self {
        Self(identity: IdentityHash(kind: 1, id.text))
    }

    /// Whoever has an address, or the network of one; nil: not known, all of them together.
    static func address(_ address: IPAddress?) -> Self {
        let network = address?.network
        return Self(
            identity: IdentityHash(
                kind: network == nil ? 2 : 3,
                network?.high ?? 0,
                network?.low ?? 0
            )
        )
    }
}
