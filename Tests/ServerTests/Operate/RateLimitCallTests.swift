import Encodings
import EntitlementLedger
import Entitlements
import HTTPTypes
import Testing

@testable import LedgerServer

/// How many requests each client may make (row 9.6; draft-ietf-httpapi-ratelimit-headers).
struct `A rate limit over HTTP` {
    private static func setup(
        _ quotas: [RateLimitPolicy: Int64],
        _ base: TestServer.Setup = TestServer.Setup()
    ) -> TestServer.Setup {
        var setup = base
        setup.quotas = quotas.compactMapValues { RateLimitQuota(requests: $0, windowSeconds: 3600) }
        return setup
    }

    private static func expectRefused(
        _ answer: TestAnswer,
        _ policy: RateLimitPolicy,
        _ requests: Int
    ) throws {
        #expect(answer.status == 429 && answer.code == "rate_limited", "\(answer)")
        #expect(answer.json["violated-policies"] == .strings([policy.rawValue]))
        #expect(answer.json["retryable"] == .bool(true))
        #expect(
            answer.headers[.rateLimitPolicy] == "\"\(policy.rawValue)\";q=\(requests);w=3600"
        )
        let limit = try #require(answer.headers[.rateLimit])
        let parts = limit.split(separator: ";")
        #expect(parts.first == "\"\(policy.rawValue)\"" && parts.dropFirst().first == "r=0")
        let reset = try #require(parts.last.flatMap { Int($0.dropFirst(2)) })
        let retryAfter = try #require(answer.headers[.retryAfter].flatMap { Int($0) })
        #expect(parts.last?.hasPrefix("t=") == true && retryAfter >= reset && reset > 0)
    }

    // row 9.6
    @Test func `counts down for each key, and then refuses it alone`() async throws {
        try await TestServer.with(Self.setup([.keys: 3])) { server in
            for left in [2, 1, 0] {
                let answer = try await server.get("/v1/customers/sam-123", as: .read)
                #expect(answer.status == 200)
                #expect(answer.headers[.rateLimitPolicy] == "\"keys\";q=3;w=3600")
                #expect(answer.headers[.rateLimit]?.hasPrefix("\"keys\";r=\(left);t=") == true)
            }
            let over = try await server.get("/v1/customers/sam-123", as: .read)
            try Self.expectRefused(over, .keys, 3)
            // Controls: another key, and a customer.
            #expect(try await server.get("/v1/customers/sam-123", as: .support).status == 200)
            let own = try await server.send(
                .get,
                "/v1/customers/sam-123",
                credential: server.token(for: "sam-123")
            )
            #expect(own.status == 200)
        }
    }

    // row 9.6
    @Test func `counts each customer by themselves, whatever their tokens`() async throws {
        try await TestServer.with(Self.setup([.customers: 2])) { server in
            func ask(_ customer: String) async throws -> TestAnswer {
                try await server.send(
                    .get,
                    "/v1/customers/" + customer,
                    credential: server.token(for: customer)
                )
            }
            #expect(try await ask("sam-123").status == 200)
            server.clock.now = noon.plus(seconds: 1)
            #expect(try await ask("sam-123").status == 200)
            try Self.expectRefused(try await ask("sam-123"), .customers, 2)
            #expect(try await ask("tina-12").status == 200)
        }
    }

    // row 9.6
    @Test func `counts who carries no credential, also on paths that lead nowhere`() async throws {
        let paths = ["/nowhere", "/v1/customers/sam-123", "/openapi.json", "/v1/customers/%zz"]
        for path in paths {
            try await TestServer.with(Self.setup([.anonymous: 1])) { server in
                #expect(try await server.send(.get, path).status != 429)
                try Self.expectRefused(try await server.send(.get, path), .anonymous, 1)
            }
        }
    }

    // row 9.6
    @Test func `slows down who tries credentials`() async throws {
        try await TestServer.with(Self.setup([.failures: 2])) { server in
            for _ in 0..<2 {
                let answer = try await server.send(
                    .get,
                    "/v1/catalog",
                    credential: APIKey.sample(77).text
                )
                #expect(answer.status == 401)
                #expect(answer.headers[.wwwAuthenticate]?.hasPrefix("Bearer ") == true)
            }
            let third = try await server.send(
                .get,
                "/v1/catalog",
                credential: APIKey.sample(78).text
            )
            try Self.expectRefused(third, .failures, 2)
        }
    }

    // row 9.6; Stores, rule 10
    @Test func `of other clients costs a store no signal`() async throws {
        let quotas: [RateLimitPolicy: Int64] = [
            .keys: 1, .customers: 1, .anonymous: 1, .failures: 1, .signals: 3,
        ]
        try await TestServer.with(Self.setup(quotas, AppStoreWorld.setup())) { server in
            for _ in 0..<3 {
                _ = try await server.send(.get, "/nowhere")
                _ = try await server.get("/v1/catalog")
                _ = try await server.send(.get, "/v1/catalog", credential: "nonsense")
            }
            #expect(try await server.get("/v1/catalog").status == 429)
            for number in 1...3 {
                let answer = try await server.send(
                    .post,
                    "/v1/signals/app-store",
                    body: AppStoreWorld.bought("n\(number)")
                )
                #expect(answer.json["outcome"] == "appended")
            }
            let flood = try await server.send(
                .post,
                "/v1/signals/app-store",
                body: AppStoreWorld.bought("n4")
            )
            try Self.expectRefused(flood, .signals, 3)
        }
    }

    // row 9.6
    @Test(arguments: [true, false])
    func `counts whoever a trusted proxy asks for by themselves`(_ isTrusted: Bool) async throws {
        var setup = Self.setup([.anonymous: 1])
        setup.isLive = true
        setup.adjust = { options in
            guard isTrusted else { return }
            let networks = ["127.0.0.0/8", "::1"]
            options.proxies = TrustedProxies(networks.compactMap { IPNetwork($0) })
        }
        try await TestServer.with(setup) { server in
            func ask(_ forwarded: String) async throws -> Int {
                var headers = HTTPFields()
                headers[.xForwardedFor] = forwarded
                return try await server.send(.get, "/nowhere", headers: headers).status
            }
            let first = try await ask("203.0.113.1")
            #expect(first == 404)
            #expect(try await ask("203.0.113.2") == (isTrusted ? 404 : 429))
            // Control: what the client itself wrote makes it nobody else.
            #expect(try await ask("203.0.113.3, 203.0.113.2") == 429)
        }
    }

    // row 9.6
    @Test func `counts each start and end of a batch that a customer hands in`() async throws {
        try await TestServer.with(Self.setup([.customers: 4])) { server in
            let flow = #"{"type":"failed","flowId":"flow-1"}"#
            let batch = "[" + [flow, flow, flow].joined(separator: ",") + "]"
            func hand(_ customer: String) async throws -> TestAnswer {
                try await server.send(
                    .post,
                    "/v1/customers/\(customer)/flows",
                    credential: server.token(for: customer),
                    body: batch
                )
            }
            #expect(try await hand("sam-123").status == 200)
            let size = try server.ledger.questions.size()
            let over = try await hand("sam-123")
            #expect(over.status == 429 && over.json["violated-policies"] == .strings(["customers"]))
            #expect(try server.ledger.questions.size() == size)
            // Controls: another customer, and a key.
            #expect(try await hand("tina-12").status == 200)
            let path = "/v1/customers/sam-123/flows"
            #expect(try await server.post(path, batch).status == 200)
        }
    }

    // row 9.6
    @Test func `holds what one customer hands in to a budget of bytes`() async throws {
        let flow = #"{"type":"started","flowId":"flow-1"}"#
        let quota = Int64(2 * flow.utf8.count + 1)
        try await TestServer.with(Self.setup([.appends: quota])) { server in
            func start(_ customer: String) async throws -> TestAnswer {
                try await server.send(
                    .post,
                    "/v1/customers/\(customer)/flows",
                    credential: server.token(for: customer),
                    body: flow
                )
            }
            for _ in 0..<2 { #expect(try await start("sam-123").status == 200) }
            let size = try server.ledger.questions.size()
            let over = try await start("sam-123")
            #expect(over.status == 429 && over.json["violated-policies"] == .strings(["appends"]))
            #expect(
                over.headers[.rateLimitPolicy]
                    == "\"appends\";q=\(quota);qu=\"content-bytes\";w=3600"
            )
            #expect(over.headers[.retryAfter].flatMap { Int($0) }.map { $0 > 0 } == true)
            #expect(try server.ledger.questions.size() == size)
            // Controls: another customer, a key, and what has no body.
            #expect(try await start("tina-12").status == 200)
            let path = "/v1/customers/sam-123"
            #expect(try await server.post(path + "/flows", flow).status == 200)
            let own = try await server.send(.get, path, credential: server.token(for: "sam-123"))
            #expect(own.status == 200)
        }
    }
}
