import Encodings
import Entitlements
import HTTPTypes
import Testing

@testable import LedgerServer

/// Somebody with a browser who is signed in to the pages.
struct PageVisitor: Sendable {
    let server: TestServer
    /// The cookie's value.
    let secret: String

    /// Signs somebody in.
    init(_ server: TestServer, as caller: Caller) {
        self.server = server
        secret = server.service.access.sessions.begin(as: caller, at: server.clock.now)
    }

    /// Signs in whoever has a scope, by a key of theirs.
    init(_ server: TestServer, with scope: Scope) throws {
        let text = try #require(server.keys[scope])
        let caller = server.service.access.caller(ofKey: text, at: server.clock.now)
        self.init(server, as: try #require(caller))
    }

    /// Stands on what a browser has already.
    init(_ server: TestServer, secret: String) {
        (self.server, self.secret) = (server, secret)
    }

    /// What forms of this session send back.
    var formToken: String {
        get throws {
            try #require(
                server.service.access.sessions.session(secret, at: server.clock.now)?.formToken
            )
        }
    }

    /// Asks for a page.
    func get(_ path: String, headers: HTTPFields = [:]) async throws -> TestAnswer {
        try await server.send(.get, path, headers: with(headers))
    }

    /// Sends a form.
    ///
    /// `token`: nil: the session's own.
    func post(
        _ path: String,
        _ fields: [(String, String)],
        token: String? = nil,
        headers: HTTPFields = [:]
    ) async throws -> TestAnswer {
        let own = try token ?? formToken
        let pairs = fields + (own.isEmpty ? [] : [("formToken", own)])
        var headers = with(headers)
        headers[.contentType] = "application/x-www-form-urlencoded"
        return try await server.send(
            .post,
            path,
            headers: headers,
            body: pairs.map { "\($0.pathSegment)=\($1.pathSegment)" }.joined(separator: "&")
        )
    }

    private func with(_ headers: HTTPFields) -> HTTPFields {
        var headers = headers
        headers[.cookie] = "entitle=" + secret
        return headers
    }
}
