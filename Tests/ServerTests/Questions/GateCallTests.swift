import Encodings
import EntitlementLedger
import Entitlements
import HTTPTypes
import Testing

@testable import LedgerServer

/// Gates and paywalls over HTTP.
struct `Gates over HTTP` {
    // rows B6, CL6: a map that an app holds, and asks without the server
    @Test func `come as a closed map`() async throws {
        try await TestServer.with { server in
            let none = try await server.get("/v1/catalog/gates")
            #expect(none.status == 404 && none.code == "not_found")
            try server.publishCatalog()
            let answer = try await server.get("/v1/catalog/gates")
            #expect(answer.status == 200)
            let map = try GateMap(json: answer.json)
            #expect(map.isOpen("scan", to: []) && !map.isOpen("export", to: []))
            #expect(map.isOpen("export", to: ["com.example.app.pro.month"]))
        }
    }

    // row Z15; an app keeps the map by its tag
    @Test func `say when the next catalog comes into force, under one tag until then`()
        async throws
    {
        try await TestServer.with { server in
            try server.publishCatalog()
            let paths = [
                "/v1/catalog/gates", "/v1/catalog/gates?customer=frank-1", "/v1/offerings",
                "/v1/offerings?customer=frank-1",
            ]
            for path in paths {
                #expect(try await server.get(path).json["validUntil"] == .null, "\(path)")
            }
            let next = server.clock.now.plus(seconds: 3600)
            let catalog = #"{"tiers":["free"],"features":[{"id":"scan"}],"products":[]}"#
            _ = try server.ledger.appender.publish(
                try JSONValue(parsing: Array(catalog.utf8)),
                effective: next,
                EntitlementLedger.Request(id: "next", source: "catalog", environment: .production)
            )
            var answers: [[TestAnswer]] = []
            for now in [server.clock.now, next.advanced(byMilliseconds: -1), next] {
                server.clock.now = now
                var told: [TestAnswer] = []
                for path in paths { told.append(try await server.get(path)) }
                answers.append(told)
            }
            for (place, path) in paths.enumerated() {
                let told = answers.map { $0[place] }
                let stated = told.map { $0.json["validUntil"] ?? "missing" }
                let expected = [JSONValue.instant(next), .instant(next), .null]
                #expect(stated == expected, "\(path)")
                let products = told.map { $0.json["products"] }
                #expect(products[0] == products[1] && products[1] != products[2], "\(path)")
                let tags = told.map { $0.headers[.eTag] }
                #expect(tags[0] == tags[1] && tags[1] != tags[2], "\(path)")
            }
        }
    }

    // Interfaces: a tag is made of an answer without the instant that it echoes.
    @Test func `lead to what is not sent again while only the clock moves`() async throws {
        try await TestServer.with { server in
            try server.publishCatalog()
            let first = try await server.get("/v1/offerings?feature=export")
            let tag = try #require(first.headers[.eTag])
            server.clock.now = server.clock.now.plus(seconds: 60)
            func again() async throws -> TestAnswer {
                try await server.send(
                    .get,
                    "/v1/offerings?feature=export",
                    credential: server.keys[.read],
                    headers: [.ifNoneMatch: tag]
                )
            }
            let same = try await again()
            #expect(same.status == 304 && same.body.isEmpty && same.headers[.eTag] == tag)
            // Controls: the answer echoes the clock, and another one is sent.
            let second = try await server.get("/v1/offerings?feature=export")
            #expect(second.headers[.eTag] == tag && second.body != first.body)
            let catalog = #"{"tiers":["free"],"features":[{"id":"export"}],"products":[]}"#
            #expect(try await server.post("/v1/catalog", catalog, as: .admin).status == 200)
            #expect(try await again().status == 200)
        }
    }

    // row 4.4
    @Test func `lead to what opens them`() async throws {
        try await TestServer.with { server in
            try server.publishCatalog()
            let closed = try await server.get("/v1/offerings?feature=export")
            let shown = closed.json["products"]?.array?.map { $0["productId"]?.string }
            #expect(shown == ["com.example.app.pro.month"])
            let open = try await server.get("/v1/offerings?feature=scan&customer=frank-1")
            #expect(open.json["products"] == .array([]))
            let unknown = try await server.get("/v1/offerings?feature=none")
            #expect(unknown.status == 404 && unknown.code == "unknown_feature")
            let bad = try await server.get("/v1/offerings?customer=")
            #expect(bad.status == 400 && bad.code == "invalid_value")
        }
    }

    // 7 000 parts of a tag were joined anew for each, which took 98 s.
    @Test(arguments: [
        "locale=" + String(repeating: "a-", count: 7000) + "a", "locale=en--US", "locale=",
        "locale=" + String(repeating: "a", count: 65), "locale=zh%20Hant", "locale=%C3%A9",
        "feature=" + String(repeating: "a", count: 4097),
    ])
    func `take no parameter of another shape or length`(query: String) async throws {
        try await TestServer.with { server in
            try server.publishCatalog()
            let answer = try await server.get("/v1/offerings?" + query)
            #expect(answer.status == 400 && answer.code == "invalid_value")
            #expect(answer.json["path"]?.string.map(query.hasPrefix) == true)
            let fitting = try await server.get("/v1/offerings?locale=zh-Hant-TW-x-a")
            #expect(fitting.status == 200)
        }
    }

    // 40 000 tiers were compared with one another, 4 000 stores with all products.
    @Test func `come of catalogs with no more than so many things`() async throws {
        try await TestServer.with { server in
            let tiers = (0..<40_000).map { "\"t\($0)\"" }.joined(separator: ",")
            let many = #"{"tiers":["free",\#(tiers)],"features":[],"products":[]}"#
            for (path, scope) in [("/v1/catalog", Scope.admin), ("/v1/whatif", .audit)] {
                let answer = try await server.post(path, many, as: scope)
                #expect(answer.status == 422 && answer.code == "invalid_catalog")
                let faults = answer.json["faults"]?.array ?? []
                #expect(faults.map { $0["path"]?.string } == ["tiers"])
                #expect(faults.first?["code"]?.string == "out_of_range")
            }
        }
    }

    // rows B2, Z16: a lease's end is told, and what is taken back counts no more
    @Test func `tell what is left of a limit, and until when a use lasts`() async throws {
        try await TestServer.with { server in
            try server.publishCatalog()
            let path = "/v1/customers/frank-1/usage"
            let used = try await server.post(path, #"{"featureId":"scan","amount":30}"#)
            #expect(used.json["endsAt"] == .instant(noon.plus(seconds: 30)))
            #expect(used.json["limit"]?["remaining"] == .integer(2))
            let id = try #require(used.json["useId"]?.string)
            let undone = try await server.post(path, #"{"undo":"\#(id)"}"#)
            #expect(undone.status == 200 && undone.json["outcome"] == "appended")
            let twice = try await server.post(path, #"{"undo":"\#(id)"}"#)
            #expect(twice.status == 200 && twice.json["outcome"] == "known")
            let unknown = try await server.post(path, #"{"undo":"nothing"}"#)
            #expect(unknown.status == 404 && unknown.code == "unknown_use")
            let state = try await server.state("frank-1")
            #expect(state["features"]?["scan"]?["limit"]?["remaining"] == .integer(3))
        }
    }
}
