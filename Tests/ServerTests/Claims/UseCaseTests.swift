import Encodings
import Entitlements
import EventLog
import HTTPTypes
import StoreSimulator
import Testing

@testable import LedgerServer

/// What an app asks of its backend around a purchase, from the first look to the last finish.
struct `An app` {
    private static func error(_ answer: TestAnswer) -> String? {
        answer.json["error"]?["code"]?.string
    }

    // row B3
    @Test func `checks access, is told what it lacks, buys it, and restores it`() async throws {
        try await TestServer.with(AppStoreWorld.setup()) { server in
            try server.publishCatalog()
            let use = #"{"featureId":"export"}"#
            #expect(try await server.has("carol-1", "export") == false)
            let required = try await server.post("/v1/customers/carol-1/usage", use)
            #expect(required.status == 403 && required.code == "not_allowed")
            #expect(required.json["path"] == "featureId")

            let item = try AppStoreWorld.transaction(1)
            _ = try await server.post("/v1/customers/carol-1/purchases", item)
            #expect(try await server.has("carol-1", "export") == true)
            #expect(try await server.post("/v1/customers/carol-1/usage", use).status == 200)

            let restored = try await server.post(
                "/v1/customers/carol-1/restore",
                #"{"transactions":[\#(item)]}"#
            )
            #expect(restored.json["known"]?.integer == 1)
            #expect(restored.json["refused"]?.integer == 0)
        }
    }

    // C5: used up is no bought-and-broken; the app is told until when.
    @Test func `is told that a feature is used up, and until when`() async throws {
        try await TestServer.with { server in
            try server.publishCatalog()
            let use = #"{"featureId":"scan"}"#
            for _ in 1...3 {
                #expect(try await server.post("/v1/customers/dora-1/usage", use).status == 200)
            }
            let check = try await server.get("/v1/customers/dora-1/features/scan")
            #expect(check.json["allowed"] == .bool(true) && check.json["usable"] == .bool(false))
            #expect(check.json["refusal"] == "used_up" && check.json["token"] == .null)
            let resetsAt = try #require(check.json["limit"]?["resetsAt"]?.string)
            #expect(check.json["validUntil"]?.string == resetsAt)

            let flag = try await server.post(
                "/ofrep/v1/evaluate/flags/scan",
                #"{"context":{"targetingKey":"dora-1"}}"#,
                as: .read
            )
            #expect(flag.json["value"] == .bool(false))
            #expect(flag.json["metadata"]?["refusal"] == "used_up")

            let refused = try await server.post("/v1/customers/dora-1/usage", use)
            #expect(refused.code == "over_limit" && refused.json["resetsAt"]?.string == resetsAt)
            let seconds = try #require(refused.headers[.retryAfter].flatMap(Int64.init))
            let reset = try #require(Instant(rfc3339: resetsAt))
            #expect(server.clock.now.advanced(byMilliseconds: seconds * 1000) == reset)

            server.clock.now = reset
            #expect(try await server.post("/v1/customers/dora-1/usage", use).status == 200)
        }
    }

    // Every answer to one feature has the same members, on each way to it.
    @Test func `is answered alike now, at another time, and with a token`() async throws {
        try await TestServer.with { server in
            try server.publishCatalog()
            let path = "/v1/customers/dora-1/features/scan"
            let ways = ["", "?at=2026-01-20", "?token=true", "?token=false"]
            var members: Set<[String]> = []
            for way in ways {
                let answer = try await server.get(path + way)
                #expect(answer.status == 200, "\(way): \(answer)")
                members.insert((answer.json.members ?? []).map(\.name))
                let hasToken = answer.json["token"]?.string != nil
                #expect(hasToken == (way == "?token=true"), "\(way)")
            }
            #expect(members.count == 1, "\(members)")
            #expect(try await server.get(path + "?token=1").status == 400)
        }
    }

    // row B9: success grants; a purchase that is cancelled, pending or failed grants nothing.
    @Test(arguments: ["cancelled", "pending", "failed"])
    func `whose purchase came to nothing has the outcome kept, and no access`(
        _ outcome: String
    ) async throws {
        try await TestServer.with(AppStoreWorld.setup()) { server in
            try server.publishCatalog()
            for type in ["started", outcome] {
                let flow = #"{"type":"\#(type)","flowId":"flow-1"}"#
                let answer = try await server.post("/v1/customers/carol-1/flows", flow)
                #expect(answer.status == 200)
            }
            let kinds = try server.events().compactMap { $0["type"]?.string }
            #expect(kinds.suffix(2) == ["flow.started", "flow." + outcome])
            #expect(try await server.has("carol-1", "export") == false)
            // Control: a verified success grants.
            _ = try await server.post(
                "/v1/customers/carol-1/purchases",
                AppStoreWorld.transaction(1)
            )
            #expect(try await server.has("carol-1", "export") == true)
        }
    }

    // row B9: what is not verified, not on sale or unknown has its code of the closed set.
    @Test func `is told apart what failed`() async throws {
        try await TestServer.with(AppStoreWorld.setup()) { server in
            try server.publishCatalog()
            let stranger = try SigningAuthority(validity: AppStoreWorld.validity)
            let forged = AppStoreWorld.item(
                try SimulatedAppStore(authority: stranger).transaction(start: AppStoreWorld.start)
            )
            let unverified = try await server.post("/v1/customers/carol-1/purchases", forged)
            #expect(unverified.code == "untrusted_root")
            #expect(Self.error(unverified) == "VERIFICATION_FAILED")
            let missing = try await server.get("/v1/customers/carol-1/features/none")
            #expect(Self.error(missing) == "PRODUCT_UNAVAILABLE")
            let unknown = try await server.get("/v1/none")
            #expect(Self.error(unknown) == "UNKNOWN_ERROR")
        }
    }

    // row ES5: an app finishes a transaction once it is told that it is recorded.
    @Test
    func `is told so only once its transaction is verified and recorded, and records it once`()
        async throws
    {
        try await TestServer.with(AppStoreWorld.setup()) { server in
            try server.publishCatalog()
            let item = try AppStoreWorld.transaction(1)
            server.storage.fault = .init(.full, "a fault that a test made")
            let failed = try await server.post("/v1/customers/carol-1/purchases", item)
            #expect(failed.status == 507 && failed.json["retryable"] == .bool(true))
            #expect(try await server.has("carol-1", "export") == false)
            server.storage.fault = nil

            var outcomes: [String] = []
            for _ in 0..<3 {
                let answer = try await server.post("/v1/customers/carol-1/purchases", item)
                outcomes.append(answer.json["outcome"]?.string ?? "none")
            }
            #expect(outcomes == ["recorded", "known", "known"])
            let bought = try server.events().count { $0["type"] == "purchase.completed" }
            #expect(bought == 1)
        }
    }
}
