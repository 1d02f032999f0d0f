import Encodings
import EntitlementLedger
import Entitlements
import HTTPTypes
import HummingbirdTesting
import LedgerAPI
import NIOCore
import Testing

@testable import LedgerServer

/// The console's pages of what the ledger does: events, figures, health, audits, the catalog, deliveries.
struct `Pages of what the ledger does` {
    /// A server with events of two customers, and a way in.
    static func with(
        _ body: @escaping @Sendable (TestServer) async throws -> Void
    ) async throws {
        try await TestServer.with { server in
            try server.publishCatalog()
            for number in 0..<60 {
                let customer = number.isMultiple(of: 3) ? "alice-1" : "bob-no-\(number)"
                let answer = try await server.post(
                    "/v1/customers/\(customer)/grants",
                    #"{"tier":"pro","grantId":"grant-\#(number)","reason":"<script>x</script>"}"#
                )
                #expect(answer.status == 200, "\(answer.body)")
            }
            try await body(server)
        }
    }

    static let paths = [
        "/console", "/console/events", "/console/events/3", "/console/health", "/console/audit",
        "/console/reports/customers", "/console/reports/revenue", "/console/reports/refunds",
        "/console/reports/funnel", "/console/reports/stages", "/console/reports/errors",
        "/console/reports/experiments", "/console/catalog", "/console/deliveries",
        "/console/settings", "/console/exports", "/console/nodes",
    ]

    @Test(arguments: ["en", "ja", "zh-Hant"])
    func `stand in each language, as a page and as a document`(language: String) async throws {
        try await Self.with { server in
            for path in Self.paths {
                let page = try await server.page(path + "?lang=\(language)", as: .admin)
                #expect(page.status == 200, "\(path) \(page.body)")
                #expect(page.body.contains(#"<html lang="\#(language)">"#))
                // Row 9.4, XSS: what somebody wrote is never markup.
                #expect(!page.body.contains("<script>x"))
                let json = try await server.page(path + ".json", as: .admin)
                #expect(json.status == 200, "\(path) \(json.body)")
                #expect(json.json != .null)
            }
        }
    }

    @Test func `give their lists as tables and as lines`() async throws {
        try await Self.with { server in
            for path in ["events", "audit", "health", "catalog", "nodes", "reports/revenue"] {
                for form in ["csv", "ndjson"] {
                    let list = try await server.page("/console/\(path).\(form)", as: .admin)
                    #expect(list.status == 200, "\(path) \(list.body)")
                }
            }
        }
    }

    // Row 9.4: a page shows no more than the route of the interface that gives the same.
    @Test func `stand for those whose keys may ask the same`() async throws {
        let rights: [(Scope, String, Bool)] = [
            (.support, "reports/revenue", false), (.support, "audit", false),
            (.read, "audit", false), (.support, "deliveries", false), (.metrics, "health", false),
            (.read, "settings", false), (.read, "exports", false),
            (.read, "reports/revenue", true), (.audit, "audit", true),
            (.support, "nodes", true), (.metrics, "nodes", false),
            (.support, "health", true), (.support, "exports", true), (.admin, "settings", true),
        ]
        try await Self.with { server in
            for (scope, path, mayRead) in rights {
                let page = try await server.page("/console/" + path, as: scope)
                #expect((page.status == 200) == mayRead, "\(scope) \(path) \(page.status)")
            }
        }
    }

    @Test func `show the newest events first, and lead to older ones and back`() async throws {
        try await Self.with { server in
            let newest = try await server.page("/console/events.json", as: .admin)
            #expect(Self.sequences(newest).first == 60)
            #expect(Self.sequences(newest).count == 50)
            let older = try await server.page("/console/events.json?before=11", as: .admin)
            #expect(Self.sequences(older) == (0...10).reversed().map { $0 })
            let newer = try await server.page("/console/events.json?after=10", as: .admin)
            #expect(Self.sequences(newer) == (11...60).reversed().map { $0 })
            let page = try await server.page("/console/events", as: .admin)
            #expect(page.body.contains("/console/events?before=11"))
        }
    }

    // Reports lead to the events of a month: both its ends are instants here, and sequences in the feed.
    @Test func `show the events that held between two days`() async throws {
        try await Self.with { server in
            let events = "/console/events.json?from=2001-01-01&to="
            let shown = try await server.page(events + "2199-01-01", as: .admin)
            #expect(shown.status == 200, "\(shown.body)")
            #expect(Self.sequences(shown).count == 50)
            // The control: an end counts.
            let before = try await server.page(events + "2001-02-01", as: .admin)
            #expect(before.status == 200 && before.body == "[]")
        }
    }

    @Test(arguments: ["type=grant.given", "customer=alice-1", "source=support", "type="])
    func `show the events that the feed gives for the same question`(query: String) async throws {
        try await Self.with { server in
            let page = try await server.page("/console/events.json?\(query)", as: .admin)
            let filled = query.hasSuffix("=") ? "" : query + "&"
            let feed = try await server.get("/v1/events?\(filled)limit=1000", as: .admin)
            let expected = (feed.json.array ?? []).suffix(50).reversed().map(\.description)
            // Looking is noted itself, behind what was looked at.
            let shown = (page.json.array ?? []).map(\.description).filter {
                !$0.contains("access.logged")
            }
            let told = expected.filter { !$0.contains("access.logged") }
            #expect(shown == Array(told.prefix(shown.count)))
            #expect(!shown.isEmpty)
        }
    }

    // Control: to an auditor nobody is named, and support names the customer first.
    @Test func `hide who it is from whoever is shown no names`() async throws {
        try await Self.with { server in
            let page = try await server.page("/console/events", as: .audit)
            #expect(page.status == 200)
            #expect(!page.body.contains("alice-1"))
            #expect(!page.body.contains("grant-3"))
            let whole = try await server.page("/console/events", as: .admin)
            #expect(whole.body.contains("alice-1"))
            let unnamed = try await server.page("/console/events.json", as: .support)
            #expect(unnamed.body == "[]")
            let named = try await server.page(
                "/console/events.json?customer=alice-1",
                as: .support
            )
            #expect(!Self.sequences(named).isEmpty)
        }
    }

    // A page looks again at what it is told of: told of its own look, it would look for ever.
    @Test func `are told by no look at a customer that something was recorded`() async throws {
        try await Self.with { server in
            let shown = try await server.page("/console/events?customer=alice-1", as: .support)
            #expect(shown.status == 200)
            #expect(try await server.noted(of: "alice-1").count == 1)
            let granted = try await server.post(
                "/v1/customers/alice-1/grants",
                #"{"tier":"pro","grantId":"grant-60"}"#
            )
            #expect(granted.status == 200, "\(granted.body)")
            let query = "customer=alice-1&after=60&limit=1"
            let stream = try await server.page("/console/events/stream?" + query, as: .support)
            #expect(stream.status == 200)
            #expect(stream.body.contains("grant.given"), "\(stream.body)")
            #expect(!stream.body.contains("access.logged"))
            // The control: whoever asks for all is told of looks, which this page does not make.
            let all = try await server.page("/console/events/stream?after=60&limit=1", as: .admin)
            #expect(all.body.contains("access.logged"), "\(all.body)")
        }
    }

    @Test func `lead to each file of a customer`() async throws {
        try await Self.with { server in
            let page = try await server.page("/console/exports?customer=alice-1", as: .support)
            let links = try PageText(page.body).links.filter { $0.hasPrefix("/console/exports/") }
            var types: [String] = []
            for link in links {
                let file = try await server.page(link, as: .support)
                #expect(file.status == 200, "\(link): \(file.body)")
                types.append(file.headers[.contentType] ?? "")
            }
            #expect(types == ExportMedia.allCases.map(\.rawValue))
        }
    }

    @Test func `prove an event once it is signed`() async throws {
        try await Self.with { server in
            let before = try await server.page("/console/events/3.json", as: .admin)
            #expect(before.json["proof"] == .null)
            _ = try server.ledger.prover.checkpoint()
            let signed = try await server.page("/console/events/3.json", as: .admin)
            #expect(signed.json["proof"]?["size"]?.integer == 61)
            let reader = try await server.page("/console/events/3.json", as: .read)
            #expect(reader.json["proof"] == nil)
            let missing = try await server.page("/console/events/99", as: .admin)
            #expect(missing.status == 404)
        }
    }

    @Test func `audit on request, from a form of the same session alone`() async throws {
        try await Self.with { server in
            let refused = try await server.submit(
                "/console/audit",
                "scope=everything",
                as: .audit,
                isSigned: false
            )
            #expect(refused.status == 403)
            let done = try await server.submit("/console/audit", "scope=everything", as: .audit)
            #expect(done.status == 303, "\(done.body)")
            let page = try await server.page("/console/audit.json", as: .audit)
            let audits = page.json["audits"]?.array ?? []
            #expect(audits.count == 1)
            #expect(audits.first?["audit"]?["ok"]?.bool == true)
            #expect(audits.first?["audit"]?["records"]?.integer == 61)
        }
    }

    // Row Z3: whom another catalog affects is seen before it is published, and it is published once.
    @Test func `try a catalog, and publish it once`() async throws {
        try await Self.with { server in
            let other = TestServer.catalog.replacing(
                #"{"id":"export"}"#,
                with: #"{"id":"export"},{"id":"share"}"#
            )
            let encoded = other.pathSegment
            let tried = try await server.submit(
                "/console/catalog/draft",
                "document=\(encoded)&effective=",
                as: .admin
            )
            #expect(tried.status == 200, "\(tried.body)")
            #expect(tried.body.contains("share"))
            #expect(tried.body.contains("/console/catalog/publish"))
            let broken = try await server.submit(
                "/console/catalog/draft",
                "document=%7B%7D",
                as: .admin
            )
            #expect(broken.status == 200)
            #expect(!broken.body.contains("/console/catalog/publish"))
            for _ in 0..<2 {
                let done = try await server.submit(
                    "/console/catalog/publish",
                    "document=\(encoded)&request=try-1",
                    as: .admin
                )
                #expect(done.status == 303, "\(done.body)")
            }
            let page = try await server.page("/console/catalog.json", as: .admin)
            #expect(page.json["versions"]?.array?.count == 2)
            #expect(page.json["catalog"]?["features"]?.array?.count == 3)
            let compared = try await server.page(
                "/console/catalog.json?from=0&to=61",
                as: .admin
            )
            #expect(compared.json["difference"]?["features"]?.array?.count == 1)
            let reader = try await server.submit(
                "/console/catalog/publish",
                "document=\(encoded)&request=try-2",
                as: .read
            )
            #expect(reader.status == 403)
        }
    }

    // A draft may be tried by who may only read: it takes no more room than over the interface.
    @Test func `refuse a catalog of too many values, or of too many bytes`() async throws {
        try await Self.with { server in
            let texts = [
                ("[" + String(repeating: "0,", count: 50_000) + "0]", "names and values"),
                (
                    String(repeating: "0", count: RouteTable.catalogByteLimit + 1),
                    "at most \(RouteTable.catalogByteLimit) bytes"
                ),
            ]
            for (text, words) in texts {
                let tried = try await server.submit(
                    "/console/catalog/draft",
                    "document=\(text.pathSegment)&effective=",
                    as: .read
                )
                #expect(tried.status == 200)
                #expect(tried.body.contains(words), "\(words)")
            }
        }
    }

    // What is asked of the overview's speed; a machine where all tests run at once is slower.
    @Test func `show the overview soon`() async throws {
        try await Self.with { server in
            _ = try await server.page("/console", as: .admin)
            let begun = ContinuousClock.now
            for _ in 0..<10 { _ = try await server.page("/console", as: .admin) }
            print("an overview takes \((ContinuousClock.now - begun) / 10)")
        }
    }

    private static func sequences(_ answer: TestAnswer) -> [Int] {
        (answer.json.array ?? []).compactMap { $0["sequence"]?.string.flatMap { Int($0) } }
    }
}

extension TestServer {
    /// Asks for a page, signed in with the key of a scope.
    fileprivate func page(_ path: String, as scope: Scope) async throws -> TestAnswer {
        let secret = service.access.sessions.begin(as: visitor(scope), at: clock.now)
        return try await visit(.get, path, [.cookie: "entitle=" + secret])
    }

    /// Sends a form, signed in with the key of a scope.
    ///
    /// `isSigned`: whether a page of the same session made it.
    fileprivate func submit(
        _ path: String,
        _ fields: String,
        as scope: Scope,
        isSigned: Bool = true
    ) async throws -> TestAnswer {
        let sessions = service.access.sessions
        let secret = sessions.begin(as: visitor(scope), at: clock.now)
        let token = sessions.session(secret, at: clock.now)?.formToken ?? ""
        return try await visit(
            .post,
            path,
            [
                .cookie: "entitle=" + secret,
                .contentType: "application/x-www-form-urlencoded",
            ],
            fields + "&formToken=" + (isSigned ? token : "another")
        )
    }

    /// Whoever has the key of a scope: a session ends with its key, whose text is `el_<id>_<secret>`.
    private func visitor(_ scope: Scope) -> Caller {
        let parts = (keys[scope] ?? "").split(separator: "_", maxSplits: 2)
        return .key(id: parts.count == 3 ? String(parts[1]) : "", scopes: [scope])
    }

    /// Sends what a browser sends: no operation of the interface, which its description would know.
    private func visit(
        _ method: HTTPRequest.Method,
        _ path: String,
        _ headers: HTTPFields,
        _ body: String? = nil
    ) async throws -> TestAnswer {
        try await client.execute(
            uri: path,
            method: method,
            headers: headers,
            body: body.map { ByteBuffer(string: $0) }
        ) { response in
            TestAnswer(
                status: response.status.code,
                headers: response.headers,
                body: String(buffer: response.body)
            )
        }
    }
}
