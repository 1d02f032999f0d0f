import Encodings
import Entitlements
import HTTPTypes
import Testing

@testable import LedgerServer

/// Erasure over HTTP (row 9.5).
struct `An erasure over HTTP` {
    private static let customer = "/v1/customers/frank-1"

    @Test func `answers with a receipt that names nobody, and is done once`() async throws {
        try await TestServer.with { server in
            try server.publishCatalog()
            let trial = #"{"trialId":"week"}"#
            #expect(try await server.post(Self.customer + "/trials", trial).status == 200)
            #expect(try await server.has("frank-1", "export") == true)
            let credential = server.keys[.admin]
            let erased = try await server.send(.delete, Self.customer, credential: credential)
            #expect(erased.status == 200 && erased.json["outcome"] == "erased")
            let receipt = try #require(erased.json["receipt"])
            #expect(receipt["streams"]?.array?.count == 1)
            #expect(!receipt.description.contains("frank-1"))
            #expect(try await server.has("frank-1", "export") == false)
            let again = try await server.send(.delete, Self.customer, credential: credential)
            #expect(again.status == 200 && again.json["outcome"] == "unknown")
            // Who comes back is somebody new: the trial is theirs.
            #expect(try await server.post(Self.customer + "/trials", trial).status == 200)
        }
    }

    @Test func `needs the scope of an administrator`() async throws {
        try await TestServer.with { server in
            for scope in Scope.allCases where scope != .admin {
                let credential = server.keys[scope]
                let answer = try await server.send(.delete, Self.customer, credential: credential)
                #expect(answer.status == 403, "\(scope)")
            }
        }
    }
}
