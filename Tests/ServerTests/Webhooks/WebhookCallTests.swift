import Encodings
import Entitlements
import HTTPTypes
import LedgerAPI
import LedgerOperations
import Synchronization
import Testing

@testable import LedgerServer

/// Webhooks over HTTP (row Z19).
struct `Calls about webhooks` {
    private static func add(
        _ server: TestServer,
        _ body: String
    ) async throws -> TestAnswer {
        try await server.post("/v1/webhooks", body, as: .admin)
    }

    private static func id(
        _ server: TestServer,
        _ url: String,
        more: String = ""
    ) async throws -> String {
        let answer = try await add(server, #"{"url":"\#(url)"\#(more)}"#)
        #expect(answer.status == 201, "\(answer.body)")
        return try #require(answer.json["id"]?.string)
    }

    private static func grant(_ server: TestServer, _ number: Int, to customer: String) async throws
    {
        let grant = #"{"tier":"pro","grantId":"g-\#(number)"}"#
        let answer = try await server.post("/v1/customers/\(customer)/grants", grant)
        #expect(answer.status == 200, "\(answer.body)")
    }

    @Test func `add, show, change and remove one`() async throws {
        try await WebhookWorld.with { server in
            let added = try await Self.add(
                server,
                #"{"url":"https://a.example/x","types":["*"],"environments":["sandbox"],"catalogChanges":true}"#
            )
            #expect(added.status == 201)
            #expect(added.json["secret"]?.string?.hasPrefix("whsec_") == true)
            let id = try #require(added.json["id"]?.string)
            let path = "/v1/webhooks/" + id
            // RFC 9110, section 15.3.2
            #expect(added.headers[.location] == path)
            let shown = try await server.get(path, as: .admin)
            #expect(shown.json["secret"] == nil && shown.json["waiting"]?.integer == 0)
            #expect(shown.json["types"] == .strings(["*"]))
            #expect(shown.json["catalogChanges"]?.bool == true)
            let all = try await server.get("/v1/webhooks", as: .admin)
            #expect(all.json["webhooks"]?.array?.count == 1)
            let rotated = try await server.send(
                .post,
                path + "/secrets",
                credential: server.keys[.admin]
            )
            #expect(rotated.json["secret"]?.string?.hasPrefix("whsec_") == true)
            #expect(rotated.json["secret"] != added.json["secret"])
            #expect(rotated.json["secretNumber"]?.integer == 2)
            for (word, state) in [("disable", "disabled"), ("enable", "enabled")] {
                let changed = try await server.send(
                    .post,
                    path + "/" + word,
                    credential: server.keys[.admin]
                )
                #expect(changed.json["state"]?.string == state)
            }
            let removed = try await server.send(.delete, path, credential: server.keys[.admin])
            #expect(removed.status == 200)
            #expect(try await server.get(path, as: .admin).status == 404)
        }
    }

    @Test(
        arguments: [
            (#"{}"#, "missing_field"), (#"[]"#, "malformed"), (#"{"url":7}"#, "invalid_value"),
            (#"{"url":"https://a.example","types":["no"]}"#, "invalid_value"),
            (#"{"url":"https://a.example","types":"*"}"#, "invalid_value"),
            (#"{"url":"https://a.example","environments":["mars"]}"#, "invalid_value"),
            (#"{"url":"https://a.example","catalogChanges":1}"#, "invalid_value"),
            (#"{"url":"https://a.example","secret":"x"}"#, "unknown_field"),
            (#"{"url":"http://a.example"}"#, "invalid_value"),
            (#"{"url":"https://me:pw@a.example"}"#, "invalid_value"),
        ] as [(String, String)]
    )
    func `refuse what cannot be`(body: String, code: String) async throws {
        try await WebhookWorld.with(tellsOfPrivate: false) { server in
            let answer = try await Self.add(server, body)
            #expect(answer.status == 400 && answer.code == code, "\(answer.body)")
            #expect(try await server.get("/v1/webhooks", as: .admin).json["webhooks"] == .array([]))
        }
    }

    @Test func `know no webhook but by its id, and none where there is no directory`() async throws
    {
        try await WebhookWorld.with { server in
            let calls: [(HTTPRequest.Method, String, String?)] = [
                (.get, "", nil), (.delete, "", nil), (.post, "/test", nil),
                (.post, "/disable", nil),
                (.post, "/enable", nil), (.post, "/secrets", nil), (.get, "/deliveries", nil),
                (.post, "/deliveries/resend", #"{"from":0,"to":1}"#),
            ]
            for (method, rest, body) in calls {
                let answer = try await server.send(
                    method,
                    "/v1/webhooks/wh_0123456789abcdef" + rest,
                    credential: server.keys[.admin],
                    body: body
                )
                #expect(answer.status == 404 && answer.code == "not_found", "\(rest)")
            }
        }
        try await TestServer.with { server in
            let answer = try await server.get("/v1/webhooks", as: .admin)
            #expect(answer.status == 403 && answer.code == "read_only")
        }
    }

    // A server that may be reached by strangers' names is not made to ask its own network.
    @Test(
        arguments: [
            "127.0.0.1", "localhost", "[::1]", "[::ffff:127.0.0.1]", "10.1.2.3", "169.254.169.254",
        ]
    )
    func `send nothing to networks of one's own`(host: String) async throws {
        try await WebhookWorld.with(tellsOfPrivate: false) { server in
            let id = try await Self.id(server, "https://\(host):9/x")
            let test = try await server.send(
                .post,
                "/v1/webhooks/\(id)/test",
                credential: server.keys[.admin]
            )
            #expect(test.json["taken"]?.bool == false)
            #expect(test.json["fault"]?.string == "private_address", "\(test.body)")
        }
    }

    // What was taken between two messages that were not is not delivered again.
    @Test func `deliver once more from a page what was not taken, and no more`() async throws {
        try await WebhookWorld.with(isTelling: false) { server in
            let id = try await Self.id(server, "https://a.example/x")
            for (number, customer) in ["lost-1", "taken-1", "lost-2"].enumerated() {
                try await Self.grant(server, number, to: customer)
            }
            let webhooks = try #require(server.service.webhooks)
            while try NoticeMaker(webhooks).step(at: server.clock.now) == .goesOn {}
            func planned() throws -> DeliveryPlan {
                let now = server.clock.now
                return try #require(try DeliveryPlan(of: id, webhooks, from: nil, at: now))
            }
            let notices = try planned().lanes.joined().map(\.notice).sorted()
            try #require(notices.count == 3)
            for _ in 0..<20 where try webhooks.webhook(id)?.dead != 2 {
                let plan = try planned()
                var results = DeliveryResults()
                for delivery in plan.lanes.joined() {
                    if delivery.notice == notices[1] {
                        results.take(delivery)
                    } else {
                        _ = results.fail(
                            delivery,
                            DeliveryAttempt(status: 500),
                            at: server.clock.now,
                            random: 0.5
                        )
                    }
                }
                try webhooks.keep(results, of: plan)
                server.clock.now = server.clock.now.plus(seconds: 86_400)
            }
            #expect(try webhooks.webhook(id)?.dead == 2)
            let sent = try await PageVisitor(server, as: .console).post(
                "/console/deliveries/\(id)/resend",
                [("from", "\(notices[0])"), ("to", "\(notices[2] + 1)")]
            )
            #expect(sent.status == 303, "\(sent.body)")
            let again = try planned().lanes.joined().map(\.notice).sorted()
            #expect(again == [notices[0], notices[2]])
        }
    }

    @Test func `try a webhook, list what it does not take, and send it again`() async throws {
        let isWell = Flag(false)
        try await WebhookReceiver.with({ _ in isWell.isUp ? .noContent : .internalServerError }) {
            receiver,
            url in
            try await WebhookWorld.with { server in
                let id = try await Self.id(server, url)
                let path = "/v1/webhooks/" + id
                let test = try await server.send(
                    .post,
                    path + "/test",
                    credential: server.keys[.admin]
                )
                #expect(test.json["status"]?.integer == 500 && test.json["taken"]?.bool == false)
                try await Self.grant(server, 1, to: "alice-1")
                var waiting: [JSONValue] = []
                // On a busy machine it waits while it is sent still.
                for _ in 0..<1200 where waiting.first?["status"]?.integer == nil {
                    try await Task.sleep(for: .milliseconds(25))
                    let answer = try await server.get(path + "/deliveries", as: .admin)
                    waiting = answer.json["deliveries"]?.array ?? []
                }
                let first = try #require(waiting.first)
                #expect(first["status"]?.integer == 500 && first["attempts"]?.integer == 1)
                #expect(first["type"]?.string == "entitlement.changed")
                isWell.isUp = true
                // Five seconds by the server's clock, which stands still.
                server.clock.now = server.clock.now.advanced(byMilliseconds: 6000)
                let taken = try await receiver.messages(count: 1)
                #expect(taken.map(\.id) == [first["id"]?.string])
                // That it was taken is kept a moment later.
                for _ in 0..<1200
                where try await server.get(path, as: .admin).json["waiting"]?.integer != 0 {
                    try await Task.sleep(for: .milliseconds(25))
                }
                let message = try #require(first["id"]?.string)
                let resent = try await server.post(
                    path + "/deliveries/resend",
                    #"{"ids":["\#(message)"]}"#,
                    as: .admin
                )
                #expect(resent.json["resent"]?.integer == 1, "\(resent.body)")
                let again = try await receiver.messages(count: 2)
                #expect(again.map(\.isResent) == [false, true])
                #expect(again.map(\.body) == [taken[0].body, taken[0].body])
                for bad in [
                    #"{"ids":[]}"#, #"{"from":2,"to":1}"#, #"{"ids":["x"],"from":1}"#, "{}",
                ] {
                    let answer = try await server.post(
                        path + "/deliveries/resend",
                        bad,
                        as: .admin
                    )
                    #expect(answer.status == 400, "\(bad): \(answer.body)")
                }
            }
        }
    }
}

/// Something that a test raises.
final class Flag: Sendable {
    private let value: Mutex<Bool>
    init(_ isUp: Bool) { value = Mutex(isUp) }
    var isUp: Bool {
        get { value.withLock(\.self) }
        set { value.withLock { $0 = newValue } }
    }
}
