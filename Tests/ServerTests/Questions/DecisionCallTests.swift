import Encodings
import EntitlementLedger
import Entitlements
import HTTPTypes
import Testing

@testable import LedgerServer

/// Decision tokens that are asked again over HTTP (row Z11).
struct `A decision token over HTTP` {
    private static let customer = "/v1/customers/alice-1"
    private static let answers = ["?", "/features/scan?token=true&", "/timeline?", "/purchases?"]

    private static func with(
        _ body: @escaping @Sendable (TestServer) async throws -> Void
    ) async throws {
        try await TestServer.with { server in
            try server.publishCatalog()
            _ = try await server.post(customer + "/grants", #"{"tier":"pro","grantId":"g"}"#)
            try await body(server)
        }
    }

    private static func token(
        _ server: TestServer,
        _ path: String = customer + "?"
    ) async throws -> (answer: TestAnswer, path: String) {
        let answer = try await server.get(path + "at=2026-05-01")
        let token = try #require(answer.json["token"]?.string)
        return (answer, "/v1/decisions/" + token)
    }

    @Test(arguments: answers)
    func `is answered byte for byte, whatever was recorded since`(_ path: String) async throws {
        try await Self.with { server in
            let (first, again) = try await Self.token(server, Self.customer + path)
            let credential = server.keys[.support]
            _ = try await server.send(.delete, Self.customer + "/grants/g", credential: credential)
            let (later, _) = try await Self.token(server, Self.customer + path)
            #expect(later.body != first.body, "the control")
            for (query, scope) in [("", Scope.read), ("?customer=alice-1", .support)] {
                let answer = try await server.get(again + query, as: scope)
                #expect(answer.status == 200 && answer.body == first.body, "\(answer.body)")
            }
        }
    }

    // Row 9.4: what a customer was shown is shown again as it was, and to keys alone.
    @Test func `of a customer's own is for keys alone, and shows no more`() async throws {
        try await Self.with { server in
            let own = try server.token(for: "alice-1")
            let first = try await server.send(.get, Self.customer, credential: own)
            let token = try #require(first.json["token"]?.string)
            let again = try await server.get("/v1/decisions/" + token)
            #expect(again.status == 200 && again.body == first.body)
            for credential in [own, try server.token(for: "bob-12")] {
                let answer = try await server.send(
                    .get,
                    "/v1/decisions/" + token,
                    credential: credential
                )
                #expect(answer.status == 403 && answer.code == "forbidden")
                #expect(!answer.body.contains("alice-1"))
            }
        }
    }

    @Test func `says why it is not answered`() async throws {
        try await Self.with { server in
            let (first, again) = try await Self.token(server)
            let other = try await server.get(again + "?customer=bob-12")
            #expect(other.status == 409 && other.code == "other_customer")
            let none = try await server.get("/v1/decisions/none")
            #expect(none.status == 400 && none.code == "invalid_value")
            let noID = try await server.get(again + "?customer=")
            #expect(noID.status == 400 && noID.code == "invalid_value")
            // A digest of another answer.
            let place = again.index(again.endIndex, offsetBy: -5)
            var changed = again
            changed.replaceSubrange(place...place, with: again[place] == "A" ? "B" : "A")
            let differing = try await server.get(changed)
            #expect(differing.status == 409 && differing.code == "differs")
            // Of whom nothing was recorded the log knows no place.
            let (nobody, nameless) = try await Self.token(server, "/v1/customers/nobody-1?")
            let missing = try await server.get(nameless)
            #expect(missing.status == 400 && missing.code == "customer_missing")
            #expect(try await server.get(nameless + "?customer=nobody-1").body == nobody.body)
            _ = try await server.send(.delete, Self.customer, credential: server.keys[.admin])
            let erased = try await server.get(again)
            #expect(erased.status == 410 && erased.code == "erased")
            for answer in [other, none, noID, differing, missing, erased] {
                #expect(!answer.body.contains("alice-1") && !answer.body.contains("nobody-1"))
            }
            #expect(first.body.contains("alice-1"), "the control")
        }
    }

    @Test func `of a longer log is another's`() async throws {
        try await Self.with { longer in
            let (_, again) = try await Self.token(longer)
            try await TestServer.with { server in
                let answer = try await server.get(again)
                #expect(answer.status == 422 && answer.code == "unknown_sequence")
            }
        }
    }
}
