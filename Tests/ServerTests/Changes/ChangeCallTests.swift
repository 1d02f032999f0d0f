import Encodings
import EntitlementLedger
import Entitlements
import HTTPTypes
import Testing

@testable import LedgerServer

/// Trials, limited uses and grants.
struct `Changes over HTTP` {
    private static let customer = "/v1/customers/frank-1"

    // row 4.5
    @Test func `start a trial once`() async throws {
        try await TestServer.with { server in
            try server.publishCatalog()
            let token = try server.token(for: "frank-1")
            let first = try await server.send(
                .post,
                Self.customer + "/trials",
                credential: token,
                body: #"{"trialId":"week"}"#
            )
            #expect(first.status == 200 && first.json["outcome"] == "appended")
            let state = try await server.state("frank-1")
            #expect(state["features"]?["export"]?["reason"] == "trial")
            #expect(state["trials"]?.array?.first?["remainingDays"] == .integer(7))
            let again = try await server.post(Self.customer + "/trials", #"{"trialId":"week"}"#)
            #expect(again.status == 409 && again.code == "trial_used")
            let other = try await server.post(Self.customer + "/trials", #"{"trialId":"year"}"#)
            #expect(other.status == 404 && other.code == "unknown_trial")
            // Control: somebody else has it still before them.
            let somebody = try await server.post(
                "/v1/customers/grace-1/trials",
                #"{"trialId":"week"}"#
            )
            #expect(somebody.status == 200)
            server.clock.now = noon.plus(seconds: 7 * 86_400)
            #expect(try await server.has("frank-1", "export") == false)
        }
    }

    // row B2; C5, E4
    @Test func `count uses up to their limit, also if they come at once`() async throws {
        try await TestServer.with { server in
            try server.publishCatalog()
            let use = #"{"featureId":"scan","amount":30,"unit":"seconds"}"#
            let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<8 {
                    group.addTask {
                        try await server.post(Self.customer + "/usage", use).status
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(statuses.sorted() == [200, 200, 200, 409, 409, 409, 409, 409])
            let limit = try await server.state("frank-1")["features"]?["scan"]?["limit"]
            #expect(limit?["remaining"] == .integer(0))
            server.clock.now = noon.plus(seconds: 86_400)
            #expect(try await server.post(Self.customer + "/usage", use).status == 200)
        }
    }

    // row B2
    @Test func `take a use back`() async throws {
        try await TestServer.with { server in
            try server.publishCatalog()
            var ids: [String] = []
            for _ in 0..<3 {
                let answer = try await server.post(
                    Self.customer + "/usage",
                    #"{"featureId":"scan"}"#
                )
                ids.append(try #require(answer.json["useId"]?.string))
            }
            let over = try await server.post(Self.customer + "/usage", #"{"featureId":"scan"}"#)
            #expect(over.status == 409 && over.code == "over_limit")
            let undone = try await server.post(Self.customer + "/usage", #"{"undo":"\#(ids[0])"}"#)
            #expect(undone.status == 200 && undone.json["useId"] == .string(ids[0]))
            let use = try await server.post(Self.customer + "/usage", #"{"featureId":"scan"}"#)
            #expect(use.status == 200)
        }
    }

    @Test(arguments: [
        (#"{"featureId":"export"}"#, 403, "not_allowed"),
        (#"{"featureId":"nothing"}"#, 404, "unknown_feature"),
        (#"{"featureId":"exprot"}"#, 404, "unknown_feature"),
        (#"{"featureId":"scan","amount":31}"#, 409, "over_limit"),
        (#"{"featureId":"scan","amount":-1}"#, 400, "out_of_range"),
        (#"{"featureId":"scan","amount":1.5}"#, 400, "out_of_range"),
        (#"{"featureId":"scan","amount":99999999999999999999}"#, 400, "out_of_range"),
        (#"{"featureId":"scan","useId":"mine"}"#, 400, "unknown_field"),
        (#"{"featureId":"scan","undo":"u"}"#, 400, "unknown_field"),
        (#"{"undo":7}"#, 400, "invalid_value"), ("{}", 400, "missing_field"),
    ])
    func `refuse a use that is none`(
        _ body: String,
        _ status: Int,
        _ code: String
    ) async throws {
        try await TestServer.with { server in
            try server.publishCatalog()
            let answer = try await server.post(Self.customer + "/usage", body)
            #expect(answer.status == status && answer.code == code, "\(answer.body)")
            if body.contains("exprot") {
                #expect(answer.json["detail"]?.string?.hasSuffix("near it: export") == true)
            }
            #expect(try server.ledger.questions.size() == 1)
        }
    }

    // C3
    @Test func `give features by hand and withdraw them`() async throws {
        try await TestServer.with { server in
            try server.publishCatalog()
            let given = try await server.post(
                Self.customer + "/grants",
                #"{"grantId":"goodwill-1","features":["export"],"reason":"sorry"}"#,
                as: .support
            )
            #expect(given.status == 200 && given.json["grantId"] == "goodwill-1")
            #expect(try await server.has("frank-1", "export") == true)
            let path = Self.customer + "/grants/goodwill-1"
            let elsewhere = try await server.send(
                .delete,
                "/v1/customers/grace-1/grants/goodwill-1",
                credential: server.keys[.support]
            )
            #expect(elsewhere.status == 404 && elsewhere.code == "unknown_grant")
            #expect(try await server.has("frank-1", "export") == true)
            server.clock.now = noon.plus(seconds: 1)
            let withdrawn = try await server.send(
                .delete,
                path,
                credential: server.keys[.support]
            )
            #expect(withdrawn.status == 200 && withdrawn.json["outcome"] == "appended")
            #expect(try await server.has("frank-1", "export") == false)
        }
    }

    @Test func `name a grant that nobody named, and its id withdraws it`() async throws {
        try await TestServer.with { server in
            try server.publishCatalog()
            let given = try await server.post(Self.customer + "/grants", #"{"tier":"pro"}"#)
            let id = try #require(given.json["grantId"]?.string)
            server.clock.now = noon.plus(seconds: 1)
            let withdrawn = try await server.send(
                .delete,
                Self.customer + "/grants/" + id,
                credential: server.keys[.write]
            )
            #expect(withdrawn.status == 200)
            #expect(try await server.has("frank-1", "export") == false)
        }
    }

    @Test(arguments: [
        ("{}", "missing_field"), (#"{"features":[]}"#, "missing_field"),
        (#"{"features":"export"}"#, "invalid_value"),
        (#"{"tier":"pro","expiresAt":"tomorrow"}"#, "invalid_value"),
        (#"{"tier":"pro","expiresAt":"9999-01-01T00:00:00Z"}"#, "out_of_range"),
        (#"{"tier":"pro","grantId":""}"#, "invalid_value"),
        (#"{"tier":"pro","observedAt":"2026-01-01T00:00:00Z"}"#, "unknown_field"),
        (#"{"tier":"pro","customer":"x"}"#, "unknown_field"), ("[]", "malformed"),
    ])
    func `refuse a grant of another form`(_ body: String, _ code: String) async throws {
        try await TestServer.with { server in
            try server.publishCatalog()
            let answer = try await server.post(Self.customer + "/grants", body)
            #expect(answer.status == 400 && answer.code == code, "\(answer.body)")
            #expect(try server.ledger.questions.size() == 1)
        }
    }
}
