import Encodings
import EntitlementLedger
import Entitlements
import Testing

@testable import LedgerServer

/// Everything that a customer bought, handed in at once.
struct `A restore over HTTP` {
    private static func restore(
        _ server: TestServer,
        _ customer: String,
        _ items: [String]
    ) async throws -> TestAnswer {
        try await server.post(
            "/v1/customers/\(customer)/restore",
            #"{"transactions":[\#(items.joined(separator: ","))]}"#
        )
    }

    private static func words(_ answer: TestAnswer) -> [String] {
        (answer.json["items"]?.array ?? []).map { item in
            [item["outcome"]?.string, item["code"]?.string].compactMap { $0 }
                .joined(separator: " ")
        }
    }

    // rows 6.3, CL2
    @Test func `says of each what became of it, in their order`() async throws {
        try await TestServer.with(AppStoreWorld.setup()) { server in
            try server.publishCatalog()
            let signed = try (1...3).map { try AppStoreWorld.transaction($0) }
            let foreign = try AppStoreWorld.transaction(4)
            _ = try await server.post("/v1/customers/dave-22/purchases", foreign)
            _ = try await server.post("/v1/customers/carol-1/purchases", signed[1])
            let items = [
                signed[0], AppStoreWorld.item(Array("text".utf8)), signed[1], foreign, signed[2],
            ]
            let answer = try await Self.restore(server, "carol-1", items)
            #expect(answer.status == 200)
            #expect(
                Self.words(answer) == [
                    "recorded", "refused malformed", "known", "refused claimed_by_another",
                    "recorded",
                ]
            )
            #expect(answer.json["recorded"] == .integer(2))
            #expect(answer.json["known"] == .integer(1))
            #expect(answer.json["refused"] == .integer(2))
            // Interfaces, "Shapes": of what stands in the log its place, and a size that holds it.
            for item in answer.json["items"]?.array ?? [] {
                let isRefused = item["outcome"] == "refused"
                #expect((item["size"] == .null) == isRefused, "\(item)")
                let (sequence, size) = (item["sequence"]?.integer ?? 0, item["size"]?.integer ?? 0)
                #expect(isRefused || size > sequence, "\(item)")
            }
            #expect(!answer.body.contains("dave-22"))
            let purchases = try await server.state("carol-1")["purchases"]?.array
            #expect(purchases?.count == 3)
        }
    }

    // row 6.3
    @Test func `repeated changes nothing`() async throws {
        try await TestServer.with(AppStoreWorld.setup()) { server in
            try server.publishCatalog()
            let items = try (1...3).map { try AppStoreWorld.transaction($0) }
            let first = try await Self.restore(server, "carol-1", items)
            #expect(first.json["recorded"] == .integer(3))
            let synced = try await Self.restore(server, "carol-1", items)
            #expect(synced.json["known"] == .integer(3))
            let size = try server.ledger.questions.size()
            let again = try await Self.restore(server, "carol-1", items + items)
            #expect(again.json["known"] == .integer(6))
            #expect(try server.ledger.questions.size() == size)
        }
    }

    // row 6.4
    @Test func `of nothing says so plainly`() async throws {
        try await TestServer.with(AppStoreWorld.setup()) { server in
            let answer = try await Self.restore(server, "carol-1", [])
            #expect(answer.status == 200)
            #expect(
                answer.body == #"{"recorded":0,"known":0,"refused":0,"items":[]}"#
            )
            #expect(try server.ledger.questions.size() == 0)
        }
    }

    @Test func `holds at most 500 transactions`() async throws {
        try await TestServer.with(AppStoreWorld.setup()) { server in
            let item = AppStoreWorld.item(Array("text".utf8))
            let most = try await Self.restore(
                server,
                "carol-1",
                Array(repeating: item, count: 500)
            )
            #expect(most.status == 200 && most.json["refused"] == .integer(500))
            let more = try await Self.restore(
                server,
                "carol-1",
                Array(repeating: item, count: 501)
            )
            #expect(more.status == 400 && more.code == "out_of_range")
        }
    }

    @Test func `puts each into its own environment`() async throws {
        try await TestServer.with(AppStoreWorld.setup()) { server in
            try server.publishCatalog()
            let items = [
                try AppStoreWorld.transaction(1),
                try AppStoreWorld.transaction(2, environment: "Sandbox"),
            ]
            let answer = try await Self.restore(server, "carol-1", items)
            #expect(answer.json["recorded"] == .integer(2))
            for world in ["production", "sandbox"] {
                let state = try await server.state("carol-1", "?environment=\(world)")
                #expect(state["purchases"]?.array?.count == 1)
            }
        }
    }

    // row CL2; E4
    @Test func `by two at once gives each purchase one owner`() async throws {
        try await TestServer.with(AppStoreWorld.setup()) { server in
            try server.publishCatalog()
            let items = try (1...6).map { try AppStoreWorld.transaction($0) }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for customer in ["carol-1", "dave-22"] {
                    group.addTask { _ = try await Self.restore(server, customer, items) }
                }
                try await group.waitForAll()
            }
            var owned: [String] = []
            for customer in ["carol-1", "dave-22"] {
                owned += (try await server.state(customer)["purchases"]?.array ?? [])
                    .compactMap { $0["purchase"]?.string }
            }
            #expect(owned.count == 6 && Set(owned).count == 6)
        }
    }

    @Test(arguments: [
        ("{}", "missing_field"), (#"{"transactions":{}}"#, "missing_field"),
        (#"{"transactions":[],"more":1}"#, "unknown_field"), ("", "malformed"),
    ])
    func `of another form is refused whole`(_ body: String, _ code: String) async throws {
        try await TestServer.with(AppStoreWorld.setup()) { server in
            let answer = try await server.post("/v1/customers/carol-1/restore", body)
            #expect(answer.status == 400 && answer.code == code, "\(answer.body)")
        }
    }

    // row 6.3
    @Test(arguments: [false, true])
    func `tells of an entry what is wrong with it, and takes the others`(
        isDryRun: Bool
    ) async throws {
        try await TestServer.with(AppStoreWorld.setup()) { server in
            try server.publishCatalog()
            let signed = try (1...2).map { try AppStoreWorld.transaction($0) }
            let entries = [
                signed[0], "7", #"{"store":"other"}"#, #"{"store":"app_store"}"#,
                #"{"store":"app_store","signedTransaction":7}"#,
                #"{"store":"play_store","purchaseData":"{}","signature":"c2ln"}"#,
                String(signed[0].dropLast()) + #","more":1}"#, signed[1],
            ]
            let answer = try await server.post(
                "/v1/customers/carol-1/restore?dry-run=\(isDryRun)",
                #"{"transactions":[\#(entries.joined(separator: ","))]}"#
            )
            #expect(answer.status == 200, "\(answer.body)")
            #expect(
                Self.words(answer) == [
                    "recorded", "refused missing_field", "refused invalid_value",
                    "refused missing_field", "refused invalid_value", "refused not_configured",
                    "refused unknown_field", "recorded",
                ]
            )
            let details = (answer.json["items"]?.array ?? []).map { $0["detail"]?.string ?? "" }
            let places = details.map { String($0.prefix { $0 != ":" }) }
            #expect(
                places == [
                    "", "transactions[1].store", "transactions[2].store",
                    "transactions[3].signedTransaction", "transactions[4].signedTransaction",
                    "transactions[5]", "transactions[6]", "",
                ]
            )
            let purchases = try await server.state("carol-1")["purchases"]?.array
            #expect(purchases?.count == (isDryRun ? 0 : 2))
        }
    }

    // Whoever is told of each that it is refused does not come again.
    @Test func `needs a store`() async throws {
        try await TestServer.with { server in
            let items = [try AppStoreWorld.transaction(1)]
            let answer = try await Self.restore(server, "carol-1", items)
            #expect(answer.status == 503 && answer.code == "not_configured")
            let beside = try await Self.restore(server, "carol-1", ["7"] + items)
            #expect(beside.status == 503 && beside.code == "not_configured")
        }
    }
}
