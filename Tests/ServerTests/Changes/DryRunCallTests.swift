import Encodings
import Entitlements
import HTTPTypes
import Testing

@testable import LedgerServer

/// What a change would come to, asked over HTTP (`?dry-run=true`).
struct `A change that is only tried over HTTP` {
    /// Changes, each of which would be recorded.
    private static let changes: [(method: HTTPRequest.Method, path: String, body: String?)] = [
        (.post, "customers/frank-1/grants", #"{"grantId":"g","features":["export"]}"#),
        (.delete, "customers/ann/grants/g", nil),
        (.post, "customers/frank-1/trials", #"{"trialId":"week"}"#),
        (.post, "customers/frank-1/links", #"{"alias":"frank-2"}"#),
        (.post, "customers/frank-1/usage", #"{"featureId":"scan"}"#),
        (.post, "purchases/app_store%2F2/claim", #"{"customer":"frank-1"}"#),
        (.post, "purchases/app_store%2F1/transfer", #"{"to":"frank-1","reason":"why"}"#),
        (.post, "purchases/app_store%2F1/release", #"{"reason":"why"}"#),
        (.post, "catalog", TestServer.catalog),
    ]

    private static func with(
        _ body: @escaping @Sendable (TestServer) async throws -> Void
    ) async throws {
        try await TestServer.with { server in
            try server.publishCatalog()
            try await server.hand(in: [
                event("p", "purchase.completed", purchase, purchased),
                event("q", "purchase.completed", "purchase/app_store/2", purchased),
                event("v", "verification.passed", purchase, #"{"method":"manual"}"#),
                event("c", "customer.claimed", "customer/ann", #"{"purchase":"app_store/1"}"#),
                event(
                    "g",
                    "grant.given",
                    "customer/ann",
                    #"{"grantId":"g","features":["export"]}"#
                ),
            ])
            try await body(server)
        }
    }

    /// The log's events; that a key looked is noted beside.
    private static func changes(of server: TestServer) throws -> [JSONValue] {
        try server.events().filter { $0["type"] != "access.logged" }
    }

    private static let purchase = "purchase/app_store/1"
    private static let purchased =
        #"{"transactionId":"1","productId":"com.example.app.pro.month","#
        + #""productKind":"auto_renewable","expiresAt":"2100-01-01T00:00:00Z"}"#

    private static func event(
        _ id: String,
        _ type: String,
        _ subject: String,
        _ data: String
    ) -> String {
        #"{"specversion":"1.0","id":"\#(id)","source":"support","type":"\#(type)","#
            + #""subject":"\#(subject)","time":"2025-01-01T00:00:00Z","data":\#(data)}"#
    }

    @Test(arguments: changes.indices)
    func `tells what it would come to, and records nothing`(_ index: Int) async throws {
        let (method, path, body) = Self.changes[index]
        try await Self.with { server in
            let events = try Self.changes(of: server)
            func send(_ query: String) async throws -> TestAnswer {
                try await server.send(
                    method,
                    "/v1/" + path + query,
                    credential: server.keys[.admin],
                    body: body
                )
            }
            let tried = try await send("?dry-run=true")
            #expect(tried.status == 200 && tried.json["dryRun"] == .bool(true), "\(tried.body)")
            #expect(tried.json["outcome"] == "appended")
            // A place in a draft is none in the log.
            #expect(tried.headers[.ledgerSequence] == nil)
            #expect(try Self.changes(of: server) == events)
            let difference = try #require(tried.json["difference"])
            #expect((difference == .null) == (path == "catalog"))
            // Control: the same without it is recorded, and says nothing of a dry run.
            let done = try await send("?dry-run=false")
            #expect(
                done.status == 200 && done.json["dryRun"] == nil && done.json["difference"] == nil
            )
            #expect(done.headers[.ledgerSequence] != nil)
            #expect(try Self.changes(of: server).count > events.count)
        }
    }

    @Test func `tells what differs for whom it is about`() async throws {
        try await Self.with { server in
            let tried = try await server.send(
                .post,
                "/v1/customers/frank-1/grants?dry-run=true",
                credential: server.keys[.support],
                body: #"{"features":["export"]}"#
            )
            let gained = tried.json["difference"]?["features"]?.array?.map { $0["feature"] }
            #expect(gained == ["export"], "\(tried.body)")
            #expect(try await server.has("frank-1", "export") == false)
        }
    }

    // Who may not read of a customer learns nothing of them by trying.
    @Test func `is for who may read`() async throws {
        try await Self.with { server in
            let path = "/v1/customers/ann/trials?dry-run=true"
            let token = try server.token(for: "ann")
            for credential in [server.keys[.write], token] {
                let tried = try await server.send(
                    .post,
                    path,
                    credential: credential,
                    body: #"{"trialId":"week"}"#
                )
                #expect(tried.status == 403 && tried.json["difference"] == nil)
            }
        }
    }

    @Test func `is refused as it would be`() async throws {
        try await Self.with { server in
            for (path, code) in [
                ("customers/ann/grants/none?dry-run=true", "unknown_grant"),
                ("customers/ann/grants/g?dry-run=perhaps", "invalid_value"),
            ] {
                let answer = try await server.send(
                    .delete,
                    "/v1/" + path,
                    credential: server.keys[.support]
                )
                #expect(answer.code == code)
            }
        }
    }
}
