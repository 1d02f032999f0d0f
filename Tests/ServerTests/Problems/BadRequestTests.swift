import Encodings
import EntitlementLedger
import Entitlements
import HTTPTypes
import Testing

@testable import LedgerServer

/// Requests that are none.
struct `A bad request` {
    @Test(arguments: [
        "/", "", "/v1", "/v1/", "/v1/nothing", "/v1/customers", "/v1/customers/",
        "/v1/customers//timeline", "//v1/customers/pat-1", "/v1/customers/pat-1/",
        "/V1/customers/pat-1", "/v1/customers/pat-1/features", "/v1/customers/pat-1/features/",
        "/v1/customers/pat-1/Timeline", "/v1%2Fcustomers/pat-1", "/%76%31/customers/pat-1",
        "/v1/customers/pat-1/../../../healthz", "/v1/../healthz",
    ])
    func `to a path that leads nowhere is told so`(_ path: String) async throws {
        try await TestServer.with { server in
            let answer = try await server.get(path)
            #expect(answer.status == 404 && answer.code == "not_found", "\(answer)")
        }
    }

    @Test(arguments: [
        (HTTPRequest.Method.put, "/v1/customers/pat-1", "DELETE, GET, HEAD"),
        (.post, "/v1/customers/pat-1", "DELETE, GET, HEAD"), (.delete, "/healthz", "GET, HEAD"),
        (.get, "/v1/signals/app-store", "POST"), (.head, "/v1/signals/app-store", "POST"),
        (.patch, "/v1/catalog", "GET, POST, HEAD"), (.options, "/v1/catalog", "GET, POST, HEAD"),
        (.trace, "/healthz", "GET, HEAD"), (.post, "/v1/customers/p/grants/g", "DELETE"),
    ])
    func `of another method learns which are allowed`(
        _ method: HTTPRequest.Method,
        _ path: String,
        _ allowed: String
    ) async throws {
        try await TestServer.with { server in
            let answer = try await server.send(method, path)
            #expect(answer.status == 405)
            if method != .head { #expect(answer.code == "method_not_allowed") }
            #expect(answer.headers[.allow] == allowed)
        }
    }

    @Test(arguments: [
        ("more=1", "unknown_parameter"), ("AT=now", "unknown_parameter"),
        ("=now", "unknown_parameter"), ("at", "invalid_value"),
        ("at=now&at=now", "invalid_request"),
        ("%61t=now&at=now", "invalid_request"), ("at=%", "invalid_request"),
        ("at=%zz", "invalid_request"), ("at=%ff", "invalid_request"), ("%c3=1", "invalid_request"),
        ("at=%00", "invalid_value"), ("at=now%0A", "invalid_value"),
        ("environment=production&more=%F0%9F", "invalid_request"),
    ])
    func `with a query of another form is refused`(_ query: String, _ code: String) async throws {
        try await TestServer.with { server in
            let answer = try await server.get("/v1/customers/pat-1?" + query)
            #expect(answer.status == 400 && answer.code == code, "\(answer)")
            // Control: an encoded name is the name.
            #expect(try await server.get("/v1/customers/pat-1?%61t=now&").status == 200)
        }
    }

    /// Bodies that are not JSON as it is read here.
    private static let notJSON = [
        "", " ", "not JSON", "{", #"{"tier":"pro"}}"#, #"{"tier":"pro",}"#, "{'tier':'pro'}",
        #"{"tier":"pro","tier":"pro"}"#, #"{"tier":NaN}"#, #"{"tier":01}"#, "\u{FEFF}{}",
        #"{"tier":"\ud800"}"#, "{\"tier\":\"a\u{0}b\"}",
        String(repeating: "[", count: 60_000),
        String(repeating: "[", count: 100) + String(repeating: "]", count: 100),
    ]

    @Test(arguments: notJSON)
    func `whose body is not JSON is refused in bounded time`(_ body: String) async throws {
        try await TestServer.with { server in
            for call in ["grants", "trials", "usage", "flows", "purchases", "restore"] {
                let answer = try await server.post("/v1/customers/pat-1/" + call, body)
                #expect(answer.status == 400, "\(call): \(answer)")
            }
            let catalog = try await server.post("/v1/catalog", body, as: .admin)
            #expect(catalog.status == 400)
            #expect(try server.ledger.questions.size() == 0)
        }
    }

    // Each value takes dozens of bytes, of which the budget of bodies knows nothing.
    @Test(arguments: ["restore", "grants", "purchases"])
    func `of more values than its length explains is refused before they are made`(
        _ call: String
    ) async throws {
        try await TestServer.with(AppStoreWorld.setup()) { server in
            func send(_ count: Int) async throws -> TestAnswer {
                let values = Array(repeating: "0", count: count).joined(separator: ",")
                return try await server.post(
                    "/v1/customers/pat-1/" + call,
                    #"{"transactions":[\#(values)]}"#
                )
            }
            let dense = try await send(30_000)
            #expect(dense.status == 400 && dense.code == "malformed", "\(dense.body)")
            let detail = dense.json["detail"]?.string ?? ""
            #expect(detail.contains("more than 17502 names and values"), "\(detail)")
            // Control: these are counted by the call itself.
            let sparse = try await send(9_000)
            #expect(sparse.status == 400 && sparse.code != "malformed", "\(sparse.body)")
        }
    }

    @Test(arguments: [
        "1e400", "-1e400", "9223372036854775808", "1.0", "1e2",
        String(repeating: "9", count: 9_999),
        "true", "\"1\"", "[]", "-9223372036854775809",
    ])
    func `with a number that is none is refused`(_ number: String) async throws {
        try await TestServer.with { server in
            try server.publishCatalog()
            let answer = try await server.post(
                "/v1/customers/pat-1/usage",
                #"{"featureId":"scan","amount":\#(number)}"#
            )
            #expect(answer.status == 400, "\(answer)")
            #expect(answer.json["path"] == "amount")
        }
    }

    @Test(arguments: [
        ("text/plain", 415), ("text/json", 415), ("application/jsonp", 415), ("", 415),
        ("multipart/form-data; boundary=x", 415), ("application/json", 200),
        ("Application/JSON; charset=utf-8", 200), ("application/cloudevents+json", 200),
    ])
    func `of another media type is refused`(_ type: String, _ status: Int) async throws {
        try await TestServer.with { server in
            let answer = try await server.post(
                "/v1/customers/pat-1/grants",
                #"{"tier":"pro"}"#,
                headers: [.contentType: type]
            )
            #expect(answer.status == status, "\(answer)")
            if status == 415 { #expect(answer.code == "unsupported_media_type") }
            // Else a matter of codings (RFC 9110, section 12.5.3).
            #expect(answer.headers[.acceptEncoding] == nil)
        }
    }

    // RFC 9110, section 12.5.3; RFC 9112, section 6.1
    @Test(
        arguments: [
            (HTTPField.Name.contentEncoding, "gzip", 415, "unsupported_media_type"),
            (.contentEncoding, "identity, br", 415, "unsupported_media_type"),
            (.transferEncoding, "gzip, chunked", 400, "invalid_request"),
            (.contentEncoding, "Identity", 200, nil),
        ] as [(HTTPField.Name, String, Int, String?)]
    )
    func `that is coded is refused before it is read`(
        _ name: HTTPField.Name,
        _ coding: String,
        _ status: Int,
        _ code: String?
    ) async throws {
        try await TestServer.with { server in
            for path in ["/v1/events", "/v1/customers/pat-1/grants"] {
                let body = path.hasSuffix("grants") ? #"{"tier":"pro"}"# : "[]"
                let answer = try await server.post(path, body, as: .admin, headers: [name: coding])
                #expect(answer.status == status && answer.code == code, "\(answer)")
                let taken = answer.headers[.acceptEncoding]
                #expect(taken == (status == 415 ? "identity" : nil))
            }
        }
    }

    @Test func `beyond its operation's limit is refused`() async throws {
        try await TestServer.with { server in
            for (path, limit) in [
                ("/v1/customers/pat-1/grants", 64 << 10), ("/v1/customers/pat-1/usage", 64 << 10),
                ("/v1/customers/pat-1/restore", 4 << 20), ("/v1/catalog", 4 << 20),
                ("/ofrep/v1/evaluate/flags", 64 << 10),
            ] {
                let spaces = String(repeating: " ", count: limit + 1)
                let over = try await server.post(path, spaces, as: .admin)
                #expect(over.status == 413 && over.code == "too_large", "\(path)")
                // Control: the largest is read, and is not JSON.
                let most = try await server.post(path, String(spaces.dropLast()), as: .admin)
                #expect(most.status == 400, "\(path)")
            }
        }
    }

    // row 9.4: who is not known learns nothing but that.
    @Test func `is refused to strangers before it is read`() async throws {
        try await TestServer.with { server in
            for body in ["not JSON", String(repeating: " ", count: 65 << 10)] {
                let answer = try await server.send(.post, "/v1/customers/pat-1/grants", body: body)
                #expect(answer.status == 401)
            }
            let query = try await server.send(.get, "/v1/customers/pat-1?more=1")
            #expect(query.status == 401)
        }
    }

    // K10
    @Test func `to publish a catalog lists every fault of it`() async throws {
        try await TestServer.with { server in
            let answer = try await server.post(
                "/v1/catalog",
                #"{"tiers":["pro"],"features":[{"id":"a"},{"id":"a"}],"products":[]}"#,
                as: .admin
            )
            #expect(answer.status == 422 && answer.code == "invalid_catalog")
            #expect((answer.json["faults"]?.array?.count ?? 0) >= 2)
            #expect(try server.ledger.questions.size() == 0)
        }
    }

    @Test(arguments: ["soon", "2026-01-01", "", "1999-01-01T00:00:00Z", "9999-01-01T00:00:00Z"])
    func `to publish a catalog needs an instant`(_ effective: String) async throws {
        try await TestServer.with { server in
            let answer = try await server.post(
                "/v1/catalog?effective=" + effective,
                TestServer.catalog,
                as: .admin
            )
            #expect(answer.status == 400 && answer.code == "invalid_value", "\(answer)")
        }
    }
}
