import Crypto
import Encodings
import Entitlements
import HTTPTypes
import Testing

@testable import EntitlementLedger
@testable import LedgerServer

/// Signed snapshots, verified without a network (row Z10).
struct `A signed snapshot` {
    private static let path = "/v1/customers/alice-1/snapshot"

    private static func with(
        _ body: @escaping @Sendable (TestServer) async throws -> Void
    ) async throws {
        try await TestServer.with { server in
            try server.publishCatalog()
            let end = server.clock.now.advanced(byMilliseconds: 40 * Instant.millisecondsPerDay)
            for (id, tail) in [("a", ""), ("b", #","expiresAt":"\#(end)""#)] {
                let customer = id == "a" ? "bob-no-1" : "alice-1"
                let grant = #"{"tier":"pro","grantId":"\#(id)"\#(tail)}"#
                let answer = try await server.post("/v1/customers/\(customer)/grants", grant)
                #expect(answer.status == 200, "\(answer.body)")
            }
            try await body(server)
        }
    }

    /// A token as any JOSE library reads it; nil where it does not verify by a set of keys.
    private static func claims(_ token: String, by keys: JSONValue) throws -> JSONValue? {
        let parts = token.split(separator: ".").map(String.init)
        try #require(parts.count == 3)
        let header = try JSONValue(parsing: try #require(Base64.decode(parts[0], .url)))
        #expect(header["alg"]?.string == "EdDSA" && header["typ"]?.string == "entitlements+jwt")
        let named = (keys["keys"]?.array ?? []).first { $0["kid"] == header["kid"] }
        guard let x = named?["x"]?.string.flatMap({ Base64.decode($0, .url) }) else { return nil }
        let key = try Curve25519.Signing.PublicKey(rawRepresentation: x)
        let signature = try #require(Base64.decode(parts[2], .url))
        let signed = Array("\(parts[0]).\(parts[1])".utf8)
        guard key.isValidSignature(signature, for: signed) else { return nil }
        return try JSONValue(parsing: try #require(Base64.decode(parts[1], .url)))
    }

    private static func keys(_ server: TestServer) async throws -> JSONValue {
        let answer = try await server.send(.get, "/.well-known/jwks.json")
        #expect(answer.headers[.contentType] == "application/jwk-set+json")
        #expect(answer.headers[.cacheControl] == "public, max-age=86400")
        return answer.json
    }

    @Test func `says what show says, and when each feature is allowed from now on`() async throws {
        try await Self.with { server in
            let answer = try await server.get(Self.path)
            #expect(answer.status == 200, "\(answer.body)")
            #expect(answer.headers[.contentType] == "application/entitlements+jwt")
            #expect(answer.headers[.cacheControl] == "no-store")
            let found = try Self.claims(answer.body, by: try await Self.keys(server))
            let claims = try #require(found)
            let now = server.clock.now
            #expect(claims["iss"]?.string == "ledger.test/log")
            #expect(claims["sub"]?.string == "alice-1")
            #expect(claims["iat"]?.integer == now.milliseconds / 1000)
            #expect(claims["exp"]?.integer == now.milliseconds / 1000 + 2_592_000)
            let shown = try await server.get("/v1/customers/alice-1")
            for member in shown.json.members ?? [] {
                #expect(claims[member.name] == member.value, "\(member.name)")
            }
            let end = now.advanced(byMilliseconds: 40 * Instant.millisecondsPerDay)
            let stretches = claims["stretches"]
            #expect(
                stretches?["export"]
                    == .array([
                        .members(["from": .string("\(now)"), "to": .string("\(end)")])
                    ])
            )
            #expect(
                stretches?["scan"]
                    == .array([.members(["from": .string("\(now)"), "to": .null])])
            )
            // The gate map that goes with it, by its tag.
            let gates = try await server.get("/v1/catalog/gates?customer=alice-1")
            let tag = try #require(claims["gates"]?.string)
            #expect(gates.headers[.eTag] == "\"\(tag)\"")
        }
    }

    @Test func `of whom nothing is known opens what is free`() async throws {
        try await Self.with { server in
            let answer = try await server.get("/v1/customers/nobody-7/snapshot")
            let keys = try await Self.keys(server)
            let claims = try #require(try Self.claims(answer.body, by: keys))
            #expect(claims["tier"]?.string == "free")
            #expect(claims["stretches"]?["export"] == .array([]))
        }
    }

    // Rotated with overlap, row Z17: by the keys of a day verifies what was signed up to eight periods of 90 days
    // before it, which a device kept, and what will be signed so long behind it.
    @Test(arguments: [1, 29, 89, 90, 91, 120, 720, 820] as [Int64])
    func `verifies by keys of another day`(days: Int64) async throws {
        try await Self.with { server in
            let early = try await Self.keys(server)
            let old = try await server.get(Self.path)
            server.clock.now = server.clock.now.advanced(
                byMilliseconds: days * Instant.millisecondsPerDay
            )
            let late = try await Self.keys(server)
            let new = try await server.get(Self.path)
            // The control: of the ninth period there is no key.
            let isTold = days <= 720
            #expect(try (Self.claims(old.body, by: late) != nil) == isTold)
            #expect(try (Self.claims(new.body, by: early) != nil) == isTold)
            #expect(try Self.claims(new.body, by: late) != nil)
            #expect((late["keys"]?.array ?? []).count == 17)
        }
    }

    @Test func `is nobody else's to make`() async throws {
        let theirs = try SnapshotKey(1, of: Curve25519.Signing.PrivateKey())
            .signed(Array("{}".utf8), as: "entitlements+jwt")
        try await Self.with { server in
            let answer = try await server.get(Self.path)
            let keys = try await Self.keys(server)
            #expect(try Self.claims(answer.body, by: keys) != nil)
            // Another ledger's, with a key of its own; and whatever is changed in one.
            #expect(try Self.claims(theirs, by: keys) == nil)
            var changed = Array(answer.body.utf8)
            let place = answer.body.utf8.count / 2
            changed[place] = changed[place] == 0x41 ? 0x42 : 0x41
            // A token that is no JSON any more does not verify before it is read.
            #expect(try Self.claims(String(decoding: changed, as: UTF8.self), by: keys) == nil)
            let page = keys.description
            #expect(!page.contains("\"d\""), "no private key")
        }
    }
}
