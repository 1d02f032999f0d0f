import Encodings
import Entitlements
import HTTPTypes
import Testing

@testable import LedgerServer

/// Row Z3 over HTTP.
struct `What if over HTTP` {
    @Test func `names who loses, and nobody by the catalog in force`() async throws {
        try await TestServer.with { server in
            try server.publishCatalog()
            let grant = try await server.post(
                "/v1/customers/frank-1/grants",
                #"{"tier":"pro"}"#
            )
            #expect(grant.status == 200, "\(grant.body)")
            let same = try await server.post("/v1/whatif", TestServer.catalog, as: .audit)
            #expect(same.status == 200, "\(same.body)")
            #expect(same.json["customers"] == .integer(1))
            #expect(same.json["losing"] == .integer(0) && same.json["gaining"] == .integer(0))
            let other = #"{"tiers":["free"],"features":[{"id":"scan"}],"products":[]}"#
            let losing = try await server.post("/v1/whatif", other, as: .audit)
            #expect(losing.json["losing"] == .integer(1))
            let lost = losing.json["losses"]?.array?.compactMap { $0["feature"]?.string }
            #expect(lost == ["export"])
            // It records nothing.
            #expect(try await server.has("frank-1", "export") == true)
        }
    }

    @Test func `lists so many as are asked for, and what differs between the catalogs`()
        async throws
    {
        try await TestServer.with { server in
            try server.publishCatalog()
            for customer in ["frank-1", "gina-1"] {
                _ = try await server.post("/v1/customers/\(customer)/grants", #"{"tier":"pro"}"#)
            }
            let other = #"{"tiers":["free"],"features":[{"id":"scan"}],"products":[]}"#
            let one = try await server.post("/v1/whatif?samples=1", other, as: .audit)
            #expect(one.json["losing"] == .integer(2) && one.json["losses"]?.array?.count == 1)
            let compared = try await server.post("/v1/catalog/diff?samples=1", other, as: .audit)
            #expect(compared.json["affected"]?["losses"] == one.json["losses"])
            let gone = compared.json["features"]?.array?.compactMap { $0["id"]?.string }
            #expect(gone?.contains("export") == true)
            // Whoever is shown no names is shown numbers in their places.
            #expect(
                one.json["losses"]?.array?.first?["customer"]?.string?.hasPrefix("masked/") == true
            )
            let source = one.json["losses"]?.array?.first?["sources"]?.array?.first?.string
            #expect(source?.hasPrefix("grant/masked/") == true, "\(one.body)")
            for path in ["/v1/whatif", "/v1/catalog/diff"] {
                let audited = try await server.post(path, other, as: .audit)
                #expect(!audited.body.contains("-1") && audited.body.contains("masked/"))
                let shown = try await server.post(path, other, as: .admin)
                #expect(shown.body.contains("frank-1") && !shown.body.contains("masked/"))
            }
            let most = try await server.post("/v1/whatif?samples=100001", other, as: .audit)
            #expect(most.status == 400 && most.code == "out_of_range")
        }
    }

    @Test func `refuses a catalog with faults, and whoever may not ask`() async throws {
        try await TestServer.with { server in
            let bad = try await server.post("/v1/whatif", #"{"tiers":[]}"#, as: .audit)
            #expect(bad.status == 422 && bad.code == "invalid_catalog")
            let reader = try await server.post("/v1/whatif", TestServer.catalog, as: .read)
            #expect(reader.status == 403)
        }
    }
}
