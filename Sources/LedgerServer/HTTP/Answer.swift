import Encodings
import EntitlementLedger
import Entitlements
import HTTPTypes
import Hummingbird
import LedgerAPI
import NIOCore

/// What a call is answered with.
struct Answer: Sendable {
    var status: Int
    var body: [UInt8]
    var mediaType: String
    var headers = HTTPFields()
    /// What follows the body, piece by piece, nil at the end; nil: nothing does.
    private(set) var pieces: (@Sendable () async throws -> String?)?
    /// How long and by whom it may be kept.
    var caching = Caching.never

    /// What caches are told (RFC 9111).
    enum Caching: Sendable {
        /// Not at all.
        case never
        /// Until the next instant at which the answer changes by itself, asked again after at most
        /// a minute; the digest leaves out what changes with the clock.
        case until(Instant?, digest: String)
        /// Asked again each time, by its tag; the digest leaves out what the answer echoes of the
        /// question, nil: it echoes nothing.
        case revalidated(digest: String?)
        /// By everybody, for so many seconds.
        case shared(seconds: Int64)
        /// For ever, by whoever asked, or by everybody: it never changes.
        case immutable(isPublic: Bool)
    }

    /// An answer whose JSON text is written already.
    init(status: Int = 200, _ written: Written<some Described>) {
        self.init(status: status, bytes: written.text.bytes, mediaType: "application/json")
    }

    /// An answer with a list of fields.
    init(status: Int = 200, _ answer: some Described) {
        let text = AnswerText(answer)
        self.init(status: status, bytes: text.bytes, mediaType: "application/json")
    }

    /// A JSON answer.
    init(status: Int = 200, _ json: JSONValue) {
        self.init(status: status, text: json.description, mediaType: "application/json")
    }

    /// An answer whose text is made already.
    init(status: Int = 200, text: String, mediaType: String) {
        self.init(status: status, bytes: Array(text.utf8), mediaType: mediaType)
    }

    /// An answer that is bytes.
    init(status: Int = 200, bytes: [UInt8], mediaType: String) {
        self.status = status
        body = bytes
        self.mediaType = mediaType
    }

    /// An answer whose text is made while it goes out.
    ///
    /// `pieces`: asked one after the other; where it throws, the connection ends without an end of
    /// the text, so that nobody takes a part for the whole.
    init(mediaType: String, pieces: @escaping @Sendable () async throws -> String?) {
        self.init(text: "", mediaType: mediaType)
        self.pieces = pieces
    }

    /// Tells of a fault that ends the answer while it goes out: its status was sent before.
    mutating func whenBroken(_ tell: @escaping @Sendable (any Error) -> Void) {
        guard let pieces else { return }
        self.pieces = {
            do {
                return try await pieces()
            } catch {
                tell(error)
                throw error
            }
        }
    }

    /// Seconds for which an answer is taken without asking again, at most.
    static let maximumAge: Int64 = 60
    /// For a day an old answer is better than none (Z17).
    private static let staleness = ", stale-if-error=86400"

    /// What most answers say.
    private static let longest = keeping(seconds: maximumAge)

    private static func keeping(seconds: Int64) -> HTTPField {
        HTTPField(
            name: .cacheControl,
            value: "private, max-age=" + String(seconds) + staleness
        )
    }

    private static let vary = HTTPField(
        name: .vary,
        value: "Accept, Authorization, X-API-Key, Accept-Language, Ledger-Min-Sequence"
    )
    private static let noSniff = HTTPField(name: .xContentTypeOptions, value: "nosniff")

    /// Adds the caching headers; an answer that the caller has already becomes 304.
    mutating func condition(_ call: HTTPFields, now: Instant) {
        let tag: String
        switch caching {
        case .never:
            headers[.cacheControl] = "no-store"
            return
        case .shared(let seconds):
            // It is made of nothing that a machine may lack.
            headers[.age] = nil
            headers[.cacheControl] = "public, max-age=" + String(seconds)
            return
        case .immutable(let isPublic):
            headers[.age] = nil
            let who = isPublic ? "public" : "private"
            headers[.cacheControl] = who + ", max-age=31536000, immutable"
            if !isPublic { headers.append(Self.vary) }
            return
        case .revalidated(let digest):
            headers[.cacheControl] = "private, no-cache"
            tag = digest.map(Self.weakTag) ?? "\"\(ContentDigest.text(of: body))\""
        case .until(let instant, let digest):
            let left = instant.map { ($0.milliseconds - now.milliseconds) / 1000 }
            let age = max(0, min(Self.maximumAge, left ?? Self.maximumAge))
            headers.append(age == Self.maximumAge ? Self.longest : Self.keeping(seconds: age))
            tag = Self.weakTag(digest)
        }
        headers.append(HTTPField(name: .eTag, value: tag))
        headers.append(Self.vary)
        if status == 200, Self.matches(call[.ifNoneMatch], tag) {
            status = 304
            body = []
        }
    }

    /// Says how one is let in, where somebody was not and nothing says so yet (RFC 9110, section 15.5.2).
    mutating func challenge(_ call: HTTPFields) {
        guard status == 401, headers[.wwwAuthenticate] == nil else { return }
        headers[.wwwAuthenticate] =
            call[.authorization] == nil
            ? AuthenticationRefusal.challengeWithoutCredential : AuthenticationRefusal.challenge
    }

    /// The tag of a digest that leaves something out, such as the instant that an answer echoes.
    static func weakTag(_ digest: String) -> String { "W/\"" + digest + "\"" }

    /// The weak comparison of RFC 9110, section 8.8.3.2.
    private static func matches(_ header: String?, _ tag: String) -> Bool {
        guard let header else { return false }
        if header == "*" { return true }
        let opaque = tag.hasPrefix("W/") ? tag.dropFirst(2) : tag[...]
        return header.split(separator: ",").contains { candidate in
            var candidate = candidate.drop { $0 == " " }
            while candidate.last == " " { candidate.removeLast() }
            return (candidate.hasPrefix("W/") ? candidate.dropFirst(2) : candidate) == opaque
        }
    }

    /// The response; a HEAD request gets the head alone.
    func response(isHead: Bool) -> Response {
        var headers = headers
        if status != 304 {
            headers.append(HTTPField(name: .contentType, value: mediaType))
            if pieces == nil {
                headers.append(HTTPField(name: .contentLength, value: String(body.count)))
            }
        }
        headers.append(Self.noSniff)
        if let pieces, !isHead {
            return Response(
                status: HTTPResponse.Status(code: status),
                headers: headers,
                body: ResponseBody { writer in
                    while let piece = try await pieces() {
                        try await writer.write(ByteBuffer(string: piece))
                    }
                    try await writer.finish(nil)
                }
            )
        }
        let isEmpty = isHead || body.isEmpty
        return Response(
            status: HTTPResponse.Status(code: status),
            headers: headers,
            body: isEmpty ? ResponseBody() : ResponseBody(byteBuffer: ByteBuffer(bytes: body))
        )
    }
}

extension Problem {
    /// The problem document as an answer.
    func answer(language: Language, requestID: String) -> Answer {
        let document = AnswerText(ProblemAnswer(self, in: language, requestID: requestID))
        var answer = Answer(
            status: code.status,
            bytes: document.bytes,
            mediaType: ProblemAnswer.mediaType
        )
        // 404 and 405 may be kept unless caches are told otherwise (RFC 9110, section 15.1).
        answer.headers[.cacheControl] = "no-store"
        if let retryAfter { answer.headers[.retryAfter] = String(retryAfter) }
        return answer
    }
}
