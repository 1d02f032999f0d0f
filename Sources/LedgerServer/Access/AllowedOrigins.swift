import Encodings
import HTTPTypes

/// The origins whose pages may ask from a browser (fetch.spec.whatwg.org, "HTTP CORS protocol").
///
/// No credential is a cookie: a page asks as whoever gave it a token, and as nobody else.
package struct AllowedOrigins: Sendable {
    private let origins: Set<Name>

    /// No page may ask.
    package static let none = AllowedOrigins()

    private init() { origins = [] }

    /// Takes origins such as `https://app.example.com`; nil: one is none, or `*`, which is everybody.
    package init?(_ texts: some Sequence<String>) {
        var origins: Set<Name> = []
        for text in texts {
            guard Self.isOrigin(text) else { return nil }
            origins.insert(Name(text))
        }
        self.origins = origins
    }

    /// Whether a text is an origin as browsers write it: a scheme, a host in lower case, perhaps a port.
    private static func isOrigin(_ text: String) -> Bool {
        guard let scheme = ["https://", "http://"].first(where: text.hasPrefix) else {
            return false
        }
        let place = text.dropFirst(scheme.count).split(
            separator: ":",
            maxSplits: 1,
            omittingEmptySubsequences: false
        )
        let isHost = !place[0].isEmpty && place[0].utf8.allSatisfy(Self.hostBytes.contains)
        let isPort = place.count == 1 || UInt16(place[1]).map { String($0) == place[1] } ?? false
        return isHost && isPort
    }

    private static let hostBytes = Set("abcdefghijklmnopqrstuvwxyz0123456789.-".utf8)

    /// Says in an answer whose page may read it.
    func tell(_ headers: inout HTTPFields, askedBy request: HTTPFields) {
        guard !origins.isEmpty else { return }
        // Whoever keeps the answer keeps it for one origin.
        headers.append(HTTPField(name: .vary, value: "Origin"))
        guard let origin = allowed(request) else { return }
        headers[.accessControlAllowOrigin] = origin
        headers[.accessControlExposeHeaders] = Self.exposed
    }

    /// What a browser is told before it asks; nil: it is no such question, or of no origin that may.
    func preflight(_ request: HTTPFields) -> Answer? {
        guard allowed(request) != nil, request[.accessControlRequestMethod] != nil else {
            return nil
        }
        var answer = Answer(status: 204, text: "", mediaType: "text/plain")
        answer.headers[.accessControlAllowMethods] = "GET, HEAD, POST, DELETE"
        answer.headers[.accessControlAllowHeaders] = Self.taken
        answer.headers[.accessControlMaxAge] = "7200"
        return answer
    }

    private func allowed(_ request: HTTPFields) -> String? {
        request[.origin].flatMap { origins.contains(Name($0)) ? $0 : nil }
    }

    /// Headers of requests beyond those that every page may send.
    private static let taken =
        "Authorization, X-API-Key, Content-Type, Idempotency-Key, If-None-Match, Last-Event-ID, "
        + "Ledger-Min-Sequence"
    /// Headers of answers beyond those that every page may read.
    private static let exposed =
        "Age, ETag, Ledger-Sequence, Link, RateLimit, RateLimit-Policy, Request-Id, Retry-After"
}
