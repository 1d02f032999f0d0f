import Encodings
import EntitlementLedger
import Entitlements
import HTTPTypes
import LedgerAPI
import LedgerOperations
import Testing

@testable import LedgerServer

/// What a provider's word is held against, over HTTP (row Z14).
struct `A comparison over HTTP` {
    private static let at = Instant(milliseconds: 1793491200000)

    private static func with(
        _ body: @escaping @Sendable (TestServer, ComparisonSide) async throws -> Void
    ) async throws {
        try await TestServer.with { server in
            try server.publishCatalog()
            for name in ["alice-1", "bob-1"] {
                _ = try await server.post("/v1/customers/\(name)/grants", #"{"tier":"pro"}"#)
            }
            _ = try await server.post("/v1/customers/alice-1/links", #"{"alias":"alice-2"}"#)
            try await body(server, ComparisonSide(server.ledger, in: .production, at: Self.at))
        }
    }

    @Test func `is told what one beside the ledger sees`() async throws {
        try await Self.with { server, side in
            for everybody in [false, true] {
                let path = "/v1/comparison?at=\(Self.at)&everybody=\(everybody)"
                let answer = try await server.get(path, as: .admin)
                #expect(answer.status == 200, "\(answer.body)")
                let ground = try side.ground(everybody: everybody)
                #expect(answer.body == AnswerText(ground).description)
                #expect(ground.catalogs.count == 1)
                #expect(ground.customers?.count == (everybody ? 2 : nil))
            }
            let customers = [
                KnownElsewhere(
                    names: ["nobody-1", "alice-2", "bob-1"],
                    purchases: ["app_store/1"]
                ),
                KnownElsewhere(names: ["nobody-1"], purchases: []),
            ]
            let question = AnswerText(ComparisonQuestion(customers: customers)).description
            let path = "/v1/comparison?at=\(Self.at)"
            let answer = try await server.post(path, question, as: .admin)
            #expect(answer.status == 200, "\(answer.body)")
            #expect(answer.headers[.ledgerSequence] == "4")
            let seen = try side.see(customers)
            #expect(answer.body == AnswerText(ComparisonView(customers: seen)).description)
            #expect(
                seen.map { $0.accounts.map(\.names) } == [
                    [["alice-2", "alice-1"], ["bob-1"]], [["nobody-1"]],
                ]
            )
            #expect(seen[0].absences.map(\.reason) == [.missing])
        }
    }

    @Test func `is not understood where somebody is passed over`() throws {
        let customers = ["alice", "bob"].map { KnownElsewhere(names: [$0], purchases: []) }
        let question = ComparisonQuestion(customers: customers)
        let nothing = #"{"tier":"free","validUntil":null,"features":{},"purchases":[],"grants":[],"#
        let json = try JSONValue(parsing: Array((nothing + #""trials":[],"warnings":[]}"#).utf8))
        let state = try StateContent.fields.read(json)
        func seen(_ names: [String]...) -> SeenCustomer {
            SeenCustomer(
                accounts: names.map { SeenCustomer.Account(names: $0, state: state) },
                absences: []
            )
        }
        let alice = seen(["alice"])
        for (others, isWhole) in [
            ([seen(["bob"])], true), ([], false), ([seen()], false),
            ([seen([])], false), ([seen(["bob"]), alice], false),
        ] {
            let view = ComparisonView(customers: [alice] + others)
            #expect((view.whole(of: question) != nil) == isWhole, "\(others)")
        }
    }

    @Test func `takes no more at once than it says, and no customer without a name`() async throws {
        try await Self.with { server, _ in
            func asked(_ names: [String], _ count: Int) async throws -> TestAnswer {
                let customer = KnownElsewhere(names: names, purchases: [])
                let question = ComparisonQuestion(
                    customers: Array(repeating: customer, count: count)
                )
                return try await server.post(
                    "/v1/comparison",
                    AnswerText(question).description,
                    as: .admin
                )
            }
            let most = ComparisonQuestion.customerLimit
            #expect(try await asked(["alice-1"], most).status == 200)
            #expect(try await asked(["alice-1"], most + 1).code == "invalid_value")
            #expect(try await asked([], 1).code == "invalid_value")
            #expect(try await asked(["alice-1", ""], 1).code == "invalid_value")
            let other = try await server.post("/v1/comparison", #"{"names":[]}"#, as: .admin)
            #expect(other.code == "unknown_field")
        }
    }
}
