import AsyncHTTPClient
package import Encodings
import Entitlements
package import LedgerAPI
package import LedgerOperations
import NIOCore
import NIOHTTP1
import NIOPosix

/// A call of the HTTP interface as a command makes it.
package struct ServerCall: Sendable {
    var method: Method
    /// Its segments, not percent-encoded.
    var path: [String]
    var query: [(name: String, value: String)] = []
    var body: [UInt8]?
    /// The request's name; nil: it is none that may be repeated.
    var idempotencyKey: String?
    /// Why somebody looks at a customer; nil: it is not said.
    var reason: String?
    /// The media type that is asked for; nil: the usual one.
    package var mediaType: String?
    /// How long the server is waited for.
    fileprivate var timeout = TimeAmount.seconds(120)

    /// How it is made.
    package enum Method: String, Sendable {
        case get = "GET"
        case head = "HEAD"
        case post = "POST"
        case delete = "DELETE"
    }

    /// Asks for something.
    package static func get(
        _ path: [String],
        _ query: [(name: String, value: String)] = [],
        because reason: String? = nil
    ) -> ServerCall {
        ServerCall(method: .get, path: path, query: query, reason: reason)
    }

    /// The same, of which nothing but that it is asked counts.
    package var headOnly: ServerCall {
        var call = self
        call.method = .head
        return call
    }

    /// Has something recorded, under a name where it may be asked again.
    package static func change(
        _ method: Method,
        _ path: [String],
        _ query: [(name: String, value: String)] = [],
        _ body: JSONValue? = nil,
        as id: String? = nil
    ) -> ServerCall {
        ServerCall(
            method: method,
            path: path,
            query: query,
            body: body.map { Array($0.description.utf8) },
            idempotencyKey: id
        )
    }

    /// The same, of which is only said what it would come to.
    ///
    /// A server that knows no such question refuses it.
    package var rehearsed: ServerCall {
        var call = self
        call.query.append(("dry-run", "true"))
        return call
    }

    /// Hands something in whose JSON is written already.
    package static func post(
        _ path: [String],
        _ query: [(name: String, value: String)] = [],
        written body: AnswerText? = nil
    ) -> ServerCall {
        ServerCall(method: .post, path: path, query: query, body: body?.bytes)
    }

    /// The same, of what takes as long as it takes; a server that is gone is told of all the same.
    package var untilDone: ServerCall {
        var call = self
        call.timeout = .hours(24)
        return call
    }

    /// The path and the query as they stand in a request.
    fileprivate var target: String {
        let query = query.map { "\($0.name)=\($0.value.pathSegment)" }.joined(separator: "&")
        return "/" + path.map(\.pathSegment).joined(separator: "/")
            + (query.isEmpty ? "" : "?" + query)
    }
}

/// A server that answers what a command would otherwise do by itself.
package struct ServerClient: Sendable {
    /// What stands before a path.
    private let base: String
    private let token: String?

    /// How long one on this machine may take to say that it is there.
    static let lookTimeout = TimeAmount.seconds(5)
    /// Bytes of an answer, at most.
    private static let answerByteLimit = 256 << 20

    /// A server somewhere, by its address, with the text of a key.
    ///
    /// - Throws: `OperationFault` for what is no address.
    package init(url: String, token: String?) throws(OperationFault) {
        var base = url
        while base.hasSuffix("/") { base.removeLast() }
        do throws(InputFault) {
            _ = try HTTPAddress(base, mayBePrivate: true)
            // What is asked stands behind it.
            guard !base.contains("?") else { throw InputFault(.invalidValue, "", "no query") }
        } catch {
            throw OperationFault(
                .usage,
                "not the address of a server",
                place: "--server",
                hint: "such as https://ledger.example.com"
            )
        }
        guard token?.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) ?? true else {
            throw OperationFault(
                .malformed,
                "what stands there is no key",
                place: "--token-file",
                hint: "entitle keys create shows one"
            )
        }
        self.base = base
        self.token = token
    }

    /// Whoever is asked is told a key: nobody else is, so that no redirection is followed.
    private static let http = HTTPClient(
        eventLoopGroup: MultiThreadedEventLoopGroup.singleton,
        configuration: {
            var configuration = HTTPClient.Configuration(
                redirectConfiguration: .disallow,
                timeout: HTTPClient.Configuration.Timeout(connect: .seconds(10))
            )
            configuration.connectionPool.retryConnectionEstablishment = false
            return configuration
        }()
    )

    private init(socket path: String) {
        base = "http+unix://" + path.pathSegment
        token = nil
    }

    /// The server that holds a ledger's directory; nil: none answers there.
    package static func local(ofLedgerAt path: String) async -> ServerClient? {
        guard let socket = LedgerSocket.existing(ofLedgerAt: path) else { return nil }
        let client = ServerClient(socket: socket)
        // Whoever was stopped leaves the socket.
        guard let reply = try? await client.reply(to: .get(["healthz"]), within: lookTimeout),
            reply.status == 200
        else { return nil }
        return client
    }

    /// What the server answers.
    ///
    /// - Throws: `OperationFault` where it answers with a problem, or not at all.
    package func answer(to call: ServerCall) async throws -> [UInt8] {
        try await page(of: call).body
    }

    /// What the server answers, and what its `Link` says of the page behind it.
    ///
    /// - Throws: as `answer(to:)`.
    func page(of call: ServerCall) async throws -> ServerReply {
        let reply: ServerReply
        do {
            reply = try await self.reply(to: call, within: call.timeout)
        } catch {
            throw silence(call)
        }
        guard (200..<300).contains(reply.status) else {
            throw OperationFault(answered: reply.body, status: reply.status)
        }
        return reply
    }

    private func silence(_ call: ServerCall) -> OperationFault {
        OperationFault(
            .unreachable,
            "the server does not answer",
            place: token == nil ? nil : base,
            hint: call.idempotencyKey.map(OperationFault.repeating)
                ?? "is it there? `curl ADDRESS/healthz` says so"
        )
    }

    /// The head of what the server answers, behind which its body comes.
    ///
    /// - Throws: `OperationFault` where it does not answer.
    func begin(_ call: ServerCall) async throws -> HTTPClientResponse {
        do {
            return try await Self.http.execute(request(call), timeout: call.timeout)
        } catch {
            throw silence(call)
        }
    }

    /// The body of what a server answered, of usual length.
    ///
    /// - Throws: `OperationFault` where it does not come.
    func bytes(of answer: HTTPClientResponse, _ call: ServerCall) async throws -> [UInt8] {
        do {
            let body = try await answer.body.collect(upTo: Self.answerByteLimit)
            return Array(body.readableBytesView)
        } catch {
            throw silence(call)
        }
    }

    func reply(
        to call: ServerCall,
        within timeout: TimeAmount
    ) async throws -> ServerReply {
        let answer = try await Self.http.execute(request(call), timeout: timeout)
        let body = try await answer.body.collect(upTo: Self.answerByteLimit)
        return ServerReply(
            status: Int(answer.status.code),
            body: Array(body.readableBytesView),
            link: answer.headers.first(name: "link"),
            size: answer.headers.first(name: "ledger-sequence").flatMap { LogPlace($0)?.size }
        )
    }

    private func request(_ call: ServerCall) -> HTTPClientRequest {
        var request = HTTPClientRequest(url: base + call.target)
        request.method = HTTPMethod(rawValue: call.method.rawValue)
        // A socket of this machine has no name.
        if base.hasPrefix("http+unix:") { request.headers.add(name: "host", value: "localhost") }
        if let token { request.headers.add(name: "authorization", value: "Bearer " + token) }
        if let id = call.idempotencyKey {
            request.headers.add(name: "idempotency-key", value: "\"\(id)\"")
        }
        if let reason = call.reason {
            // A header is one line (RFC 9110, section 5.5).
            let line = String(reason.map { $0.isNewline || $0 == "\t" ? " " : $0 })
            request.headers.add(name: "access-reason", value: line)
        }
        if let type = call.mediaType { request.headers.add(name: "accept", value: type) }
        if let body = call.body {
            request.headers.add(name: "content-type", value: "application/json")
            request.body = .bytes(ByteBuffer(bytes: body))
        }
        return request
    }
}

/// What a server answers a call.
struct ServerReply: Sendable {
    var status: Int
    var body: [UInt8]
    /// Where the next page stands (RFC 8288); nil: there is none.
    var link: String?
    /// The log's size that was answered from; nil: it is not said.
    var size: UInt64?
}
