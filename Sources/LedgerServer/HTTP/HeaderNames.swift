import Encodings
import HTTPTypes

extension HTTPField.Name {
    /// The size of the log that an answer was made from.
    static let ledgerSequence = named("Ledger-Sequence")
    /// The smallest size that an answer is to be made from.
    static let ledgerMinSequence = named("Ledger-Min-Sequence")
    /// What a machine of a cluster says where it passes a call on.
    static let ledgerNode = named("Ledger-Node")
    /// A client's name for one request (draft-ietf-httpapi-idempotency-key-header).
    static let idempotencyKey = named("Idempotency-Key")
    /// Why somebody looks at a customer's data.
    static let accessReason = named("Access-Reason")
    /// Names the request in the server's logs.
    static let requestID = named("Request-Id")
    /// A key, where `Authorization` is taken.
    static let apiKey = named("X-API-Key")
    /// A `Host` beside the first, which is the request's authority.
    static let furtherHost = named("Host")
    /// For whom a proxy asks, behind whom it was asked by.
    static let xForwardedFor = named("X-Forwarded-For")
    /// The last event that a reader of a stream has (WHATWG HTML, "Server-sent events").
    static let lastEventID = named("Last-Event-ID")
    /// Where a list goes on (RFC 8288).
    static let link = named("Link")
    /// RevenueCat's HMAC.
    static let revenueCatSignature = named("X-RevenueCat-Webhook-Signature")
    /// From where a request comes, as the browser sees it (W3C, Fetch Metadata).
    static let secFetchSite = named("Sec-Fetch-Site")
    /// What is told of a page to where its links lead (W3C, Referrer Policy).
    static let referrerPolicy = named("Referrer-Policy")
    /// What search engines may do with a page.
    static let robotsTag = named("X-Robots-Tag")
    /// Who shares a window with a page (WHATWG HTML).
    static let crossOriginOpenerPolicy = named("Cross-Origin-Opener-Policy")
    /// How a proxy was asked.
    static let xForwardedProto = named("X-Forwarded-Proto")
    /// What is left of a quota (draft-ietf-httpapi-ratelimit-headers).
    static let rateLimit = named("RateLimit")
    /// The quota.
    static let rateLimitPolicy = named("RateLimit-Policy")

    private static func named(_ name: String) -> HTTPField.Name {
        guard let name = HTTPField.Name(name) else {
            preconditionFailure("these names are tokens")
        }
        return name
    }
}
