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
    /// Credentials that did not count, by address.
    case failures

    /// The place among all cases, from 0.
    var place: Int {
        switch self {
        case .signals: 0
        case .keys: 1
        case .customers: 2
        case .anonymous: 3
        case .failures: 4
        }
    }
}

/// How many requests one client may make in which time: a bucket of `requests` tokens that fills
/// evenly within `windowSeconds`.
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
        }
    }
}

/// A client as a rate limiter tells it from others.
package struct RateLimitClient: Hashable, Sendable {
    let identity: IdentityHash

    /// An API key, by its id.
    package static func key(_ id: String) -> Self { Self(identity: IdentityHash(kind: 0, id)) }

    /// A customer.
    package static func customer(_ id: String) -> Self {
        Self(identity: IdentityHash(kind: 1, id))
    }

    /// An address in text form, as `inet_ntop` writes it.
    ///
    /// IPv6 addresses count by their first 64 bits: whoever has one has all of them (RFC 6177).
    package static func address(_ text: String) -> Self {
        Self(identity: IdentityHash(kind: 2, network(of: text)))
    }

    /// Bytes of an address that are looked at; `inet_ntop` writes 45 at most.
    private static let addressByteLimit = 64

    static func network(of address: String) -> String {
        let text = String(decoding: address.utf8.prefix(addressByteLimit), as: UTF8.self)
        guard text.utf8.contains(UInt8(ascii: ":")) else { return text }
        // An IPv4 client of a socket that takes both.
        let mapped = "::ffff:"
        if text.hasPrefix(mapped), text.utf8.contains(UInt8(ascii: ".")) {
            return String(text.dropFirst(mapped.count))
        }
        let sides = text.prefix { $0 != "%" }
            .split(separator: "::", maxSplits: 1, omittingEmptySubsequences: false)
            .map { $0.split(separator: ":") }
        var groups = sides[0]
        if sides.count == 2 {
            let missing = max(0, 8 - sides[0].count - sides[1].count)
            groups += repeatElement("0", count: missing) + sides[1]
        }
        return groups.prefix(4).joined(separator: ":") + "::/64"
    }
}
