import Encodings
import EntitlementLedger
import Entitlements
import EventLog
import HTTPTypes
import LedgerAPI
import Testing

@testable import LedgerServer

/// Who saw or changed whom (`access.logged`).
struct `The access log` {
    private static func accesses(
        _ server: TestServer,
        of customer: CustomerID,
        expecting count: Int = 0
    ) async throws -> [JSONValue] {
        var found: [JSONValue] = []
        // They are written behind the answers.
        for _ in 0..<500 {
            found = []
            var filter = EventFilter(sequences: 0 ..< .max)
            filter.customer = customer
            filter.kind = .accessLogged
            try server.ledger.questions.events(filter) { _, event in
                found.append(event)
                return true
            }
            if found.count >= count { break }
            try await Task.sleep(for: .milliseconds(10))
        }
        return found
    }

    private static func with(
        _ body: @escaping @Sendable (TestServer) async throws -> Void
    )
        async throws
    {
        try await TestServer.with { server in
            try server.publishCatalog()
            _ = try await server.post("/v1/customers/alice-1/grants", #"{"tier":"pro"}"#)
            try await body(server)
        }
    }

    private static let reads = [
        ("", "showCustomer"), ("/features/scan", "checkFeature"),
        ("/timeline", "showTimeline"), ("/purchases", "listPurchases"),
        ("/explain?feature=scan", "explainFeature"), ("/diff", "compareStates"),
        ("/export", "exportCustomer"),
    ]

    @Test func `notes what support and auditors saw and changed, by whom and why`()
        async throws
    {
        try await Self.with { server in
            for (path, _) in Self.reads {
                var headers = HTTPFields()
                headers[.accessReason] = "ticket 12"
                let answer = try await server.send(
                    .get,
                    "/v1/customers/alice-1" + path,
                    credential: server.keys[.support],
                    headers: headers
                )
                #expect(answer.status == 200, "\(answer.body)")
            }
            let changed = try await server.post(
                "/v1/customers/alice-1/grants",
                #"{"tier":"pro","grantId":"g2"}"#,
                as: .support
            )
            #expect(changed.status == 200)
            let found = try await Self.accesses(
                server,
                of: "alice-1",
                expecting: Self.reads.count + 1
            )
            let actions = found.map { $0["data"]?["action"]?.string }
            #expect(Set(actions) == Set(Self.reads.map(\.1) + ["grant"]))
            #expect(actions.count == Self.reads.count + 1)
            let actors = Set(found.map { $0["data"]?["actor"]?.string })
            #expect(actors.count == 1 && !actors.contains(nil))
            let reasons = found.filter { $0["data"]?["action"]?.string != "grant" }
                .map { $0["data"]?["reason"]?.string }
            #expect(Set(reasons) == ["ticket 12"])
            #expect(try server.ledger.auditor.audit().isOK)
        }
    }

    // What is only tried tells of a customer what a question tells.
    @Test(arguments: [
        ("trials", #"{"trialId":"week"}"#, "startTrial"),
        ("usage", #"{"featureId":"scan"}"#, "use"),
        ("grants", #"{"tier":"pro"}"#, "grant"), ("links", #"{"alias":"alice-2"}"#, "linkCustomer"),
    ])
    func `notes what support only tried`(
        _ path: String,
        _ body: String,
        _ action: String
    ) async throws {
        try await Self.with { server in
            let tried = try await server.send(
                .post,
                "/v1/customers/alice-1/\(path)?dry-run=true",
                credential: server.supportKey,
                body: body
            )
            #expect(tried.status == 200 && tried.json["dryRun"] == .bool(true), "\(tried.body)")
            let found = try await Self.accesses(server, of: "alice-1", expecting: 1)
            #expect(found.map { $0["data"]?["action"]?.string } == [action])
        }
    }

    @Test func `notes what support told of a purchase under way`() async throws {
        try await Self.with { server in
            let path = "/v1/customers/alice-1/flows"
            // The control: a backend's is no look.
            let begun = try await server.post(path, #"{"type":"started","flowId":"flow-1"}"#)
            #expect(begun.status == 200)
            let told = try await server.send(
                .post,
                path,
                credential: server.supportKey,
                body: #"{"type":"cancelled","flowId":"flow-1"}"#
            )
            #expect(told.status == 200, "\(told.body)")
            let found = try await server.noted(of: "alice-1")
            #expect(found.map { $0["data"]?["action"]?.string } == ["recordFlow"])
        }
    }

    // A form shows what a customer has, however it is answered, and a search leads to them (row 8.6).
    @Test func `notes whom forms and searches of the console tell of`() async throws {
        try await `The page of a customer`.refunded { server, visitor in
            let path = "/console/customers/anna/"
            let refused = try await visitor.post(path + "release", [])
            #expect(refused.status == 400)
            let wish = [("request", "r-1"), ("reason", "asked"), ("tier", "pro")]
            let tried = try await visitor.post(path + "grant", wish)
            #expect(tried.status == 200)
            let found = try await visitor.get("/console/customers?q=app_store/100")
            #expect(found.status == 303)
            let noted = try await Self.accesses(server, of: "anna", expecting: 3)
            let actions = noted.compactMap { $0["data"]?["action"]?.string }
            let forms = ["sendGrantForm", "sendReleasePurchaseForm"]
            #expect(actions.sorted() == ["searchCustomers"] + forms)
        }
    }

    // Whose purchase it was is concerned, on whosever page the form stood.
    @Test func `notes from whom a form took a purchase`() async throws {
        try await `The page of a customer`.refunded { server, visitor in
            let path = "/console/customers/bob-12/release"
            let wish = [
                ("request", "r-1"), ("reason", "asked"), ("purchase", "app_store/100"),
            ]
            let tried = try await visitor.post(path, wish)
            #expect(tried.status == 200, "\(tried.body)")
            let done = try await visitor.post(path, wish + [("confirmed", "yes")])
            #expect(done.status == 303, "\(done.body)")
            let noted = try await Self.accesses(server, of: "anna", expecting: 2)
            let actions = noted.compactMap { $0["data"]?["action"]?.string }
            #expect(actions.sorted() == ["releasePurchase", "sendReleasePurchaseForm"])
            #expect(noted.compactMap { $0["data"]?["reason"]?.string } == ["asked"])
        }
    }

    // Whom a decision token is about the answer says.
    @Test func `notes of whom support asked a decision token again, and of no backend`()
        async throws
    {
        try await Self.with { server in
            let answer = try await server.get("/v1/customers/alice-1")
            let path = "/v1/decisions/" + (try #require(answer.json["token"]?.string))
            var headers = HTTPFields()
            headers[.accessReason] = "ticket 12"
            // Whoever learns nothing has seen nobody.
            let refused = try await server.get(path + "?customer=bob-12", as: .support)
            #expect(refused.status == 409)
            for scope in [Scope.read, .admin, .support] {
                let again = try await server.send(
                    .get,
                    path,
                    credential: server.keys[scope],
                    headers: headers
                )
                #expect(again.body == answer.body)
            }
            let found = try await Self.accesses(server, of: "alice-1", expecting: 1)
            #expect(found.map { $0["data"]?["action"]?.string } == ["repeatDecision"])
            #expect(found.map { $0["data"]?["reason"]?.string } == ["ticket 12"])
        }
    }

    @Test func `leaves no trace of backends and of customers themselves`()
        async throws
    {
        try await Self.with { server in
            let size = try server.ledger.questions.size()
            for path in ["", "/features/scan"] {
                _ = try await server.get("/v1/customers/alice-1" + path, as: .admin)
            }
            for (path, _) in Self.reads.dropLast() {
                _ = try await server.get("/v1/customers/alice-1" + path, as: .read)
            }
            _ = try await server.send(
                .get,
                "/v1/customers/alice-1/timeline",
                credential: server.token(for: "alice-1")
            )
            // Refused, and never seen.
            _ = try await server.get("/v1/customers/alice-1/export", as: .read)
            _ = try await server.get("/v1/customers/alice-1/explain", as: .support)
            // The control: one that is noted, behind all of these.
            _ = try await server.get("/v1/customers/alice-1/timeline", as: .support)
            let found = try await Self.accesses(server, of: "alice-1", expecting: 1)
            #expect(found.count == 1)
            #expect(try server.ledger.questions.size() == size + 1)
        }
    }

    // Whoever says why looks as support does, whatever else the key may.
    @Test func `notes a backend that is support's as well where it says why`() async throws {
        try await Self.with { server in
            let both = APIKey.sample(102, scopes: [.read, .support])
            try server.folder.write([both.key])
            // The keys are looked at once a second.
            server.clock.now = server.clock.now.plus(seconds: 1)
            for path in ["", "/features/scan"] {
                for reason in [nil, "ticket 12"] {
                    var headers = HTTPFields()
                    headers[.accessReason] = reason
                    let answer = try await server.send(
                        .get,
                        "/v1/customers/alice-1" + path,
                        credential: both.text,
                        headers: headers
                    )
                    #expect(answer.status == 200, "\(answer.body)")
                }
            }
            let found = try await server.noted(of: "alice-1")
            let actions = found.compactMap { $0["data"]?["action"]?.string }
            #expect(actions.sorted() == ["checkFeature", "showCustomer"])
            #expect(found.allSatisfy { $0["data"]?["reason"] == "ticket 12" })
        }
    }

    // An access must not make somebody known who was not.
    @Test func `makes no stream`() async throws {
        try await Self.with { server in
            let size = try server.ledger.questions.size()
            for (path, _) in Self.reads.dropLast() {
                let answer = try await server.get("/v1/customers/bob-12" + path, as: .support)
                #expect(answer.status == 200, "\(answer.body)")
            }
            _ = try await server.get("/v1/customers/alice-1/timeline", as: .support)
            _ = try await Self.accesses(server, of: "alice-1", expecting: 1)
            #expect(try server.ledger.questions.size() == size + 1)
            #expect(
                (try await server.get("/v1/customers/bob-12/export", as: .support)).status == 404
            )
        }
    }

    // The law of `sequence`: looking changes nothing else of an answer.
    @Test func `changes no answer but by its sequence`() async throws {
        try await Self.with { server in
            let at = "?at=2026-05-01"
            func answers() async throws -> [String] {
                var answers: [String] = []
                for path in ["", "/timeline", "/purchases"] {
                    let answer = try await server.get("/v1/customers/alice-1" + path + at)
                    guard case .object(let members) = answer.json else { continue }
                    answers.append(
                        JSONValue.object(
                            members.filter { !["sequence", "token"].contains($0.name) }
                        ).description
                    )
                }
                return answers
            }
            let before = try await answers()
            _ = try await server.get("/v1/customers/alice-1/timeline", as: .support)
            _ = try await Self.accesses(server, of: "alice-1", expecting: 1)
            #expect(try await answers() == before)
            #expect(before.count == 3)
        }
    }

    // A key with `read` alone is not told who looked at whom, as in a timeline.
    @Test func `is no part of what differs`() async throws {
        try await Self.with { server in
            _ = try await server.get("/v1/customers/alice-1/timeline", as: .support)
            _ = try await Self.accesses(server, of: "alice-1", expecting: 1)
            let path = "/v1/customers/alice-1/diff?knownSequence=0"
            for scope in [Scope.read, .support] {
                let answer = try await server.get(path, as: scope)
                let types = answer.json["events"]?.array?.map { $0["type"]?.string }
                // The grant is the control.
                #expect(types == [EventKind.grantGiven.name], "\(answer.body)")
            }
        }
    }

    // Never lost silently: what cannot be written waits, and is written when there is room.
    @Test func `waits for a disk that is full, tells of it once, and tries again`() async throws {
        try await Self.with { server in
            server.storage.fault = LogStorageFault(.full, "planted")
            for _ in 0..<3 {
                let answer = try await server.get("/v1/customers/alice-1/timeline", as: .support)
                #expect(answer.status == 200)
            }
            for _ in 0..<500 {
                if server.log.all.contains(where: { $0.contains("wait to be noted") }) { break }
                try await Task.sleep(for: .milliseconds(10))
            }
            #expect(server.log.all.contains { $0.contains("wait to be noted") })
            // Tried again meanwhile.
            try await Task.sleep(for: .seconds(2.5))
            server.storage.fault = nil
            // Nobody looks any more, and the server goes on.
            #expect(try await Self.accesses(server, of: "alice-1", expecting: 3).count == 3)
            #expect(server.log.all.count { $0.contains("wait to be noted") } == 1)
            try await server.service.accesses.stop()
            #expect(!server.log.all.contains { $0.contains("were not noted") })
        }
    }

    @Test func `says how many are lost when the server stops without room`() async throws {
        try await Self.with { server in
            server.storage.fault = LogStorageFault(.full, "planted")
            _ = try await server.get("/v1/customers/alice-1/timeline", as: .support)
            try await server.service.accesses.stop()
            let line = try #require(server.log.all.first { $0.contains("were not noted") })
            let json = try JSONValue(parsing: Array(line.utf8))
            #expect(json["count"]?.string == "1")
            // row 8.5
            #expect(json["time"]?.string.flatMap { Instant(rfc3339: $0) } != nil)
        }
    }
}
