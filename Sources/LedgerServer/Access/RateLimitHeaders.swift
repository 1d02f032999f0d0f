/// The fields that tell a client of its quota (draft-ietf-httpapi-ratelimit-headers-10): lists of
/// structured field strings with integer parameters (RFC 9651).
///
/// Names and numbers need no escapes, so the text is written as it stands.
package struct RateLimitHeaders: Hashable, Sendable {
    /// `RateLimit-Policy`, such as `"keys";q=600;w=60`.
    package var policy: String
    /// `RateLimit`, such as `"keys";r=597;t=1`.
    package var limit: String
    /// `Retry-After` in seconds; nil for a request that may pass.
    package var retryAfter: String?

    /// The fields of an answer.
    package init(_ decision: RateLimitDecision) {
        policy = decision.policyField
        limit =
            "\"\(decision.policy.rawValue)\";r=\(decision.remaining);t=\(decision.resetSeconds)"
        retryAfter = decision.isAllowed ? nil : String(decision.resetSeconds)
    }

    static func policyField(_ policy: RateLimitPolicy, _ quota: RateLimitQuota) -> String {
        let unit = policy.unit.map { ";qu=\"\($0)\"" } ?? ""
        return "\"\(policy.rawValue)\";q=\(quota.requests)\(unit);w=\(quota.windowSeconds)"
    }
}
