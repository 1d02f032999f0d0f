import Encodings
import EntitlementLedger
import Entitlements
import HTTPTypes
import Testing

@testable import LedgerServer

/// Ids in paths: any 1 to 1024 bytes of UTF-8 without control characters (Model, "Events").
struct `An id in a path` {
    /// Everything but letters and digits, percent-encoded.
    private static func encoded(_ id: String) -> String {
        id.utf8.map { byte in
            let isPlain =
                (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte)
                || (0x61...0x7A).contains(byte)
            return isPlain
                ? String(UnicodeScalar(byte))
                : "%" + String(UInt16(byte) + 256, radix: 16, uppercase: true).dropFirst()
        }
        .joined()
    }

    /// An answer without its token.
    private static func untold(_ answer: TestAnswer) -> [JSONMember] {
        (answer.json.members ?? []).filter { $0.name != "token" }
    }

    @Test(arguments: [
        "with space", "with/slash", "a?b=c", "a#b", "50%", "a+b", "%2e%2e", "../..", "...",
        "über", "日本語", "🧾", "\"quoted\"", "a\\b", "$RCAnonymousID:1", "ünïcödé/ /?#%",
        String(repeating: "x", count: 1024), String(repeating: "語", count: 341),
    ])
    func `may be anything that an id may be`(_ id: String) async throws {
        try await TestServer.with { server in
            try server.publishCatalog()
            let path = "/v1/customers/" + Self.encoded(id)
            #expect(try await server.post(path + "/grants", #"{"tier":"pro"}"#).status == 200)
            let state = try await server.get(path)
            #expect(state.json["customer"] == .string(id))
            #expect(state.json["tier"] == "pro")
            let feature = try await server.get(path + "/features/export")
            #expect(feature.json["customer"] == .string(id))
            #expect(feature.json["allowed"] == .bool(true))
            let own = try await server.send(
                .get,
                path,
                credential: server.token(for: JSONValue.string(id).escaped)
            )
            // The token alone says for whom the answer was made.
            #expect(Self.untold(own) == Self.untold(state) && !Self.untold(own).isEmpty)
        }
    }

    @Test(arguments: [
        "%00", "a%00b", "%0A", "%7F", "%C2%80", "%ff", "%C3", "%ED%A0%80", "%", "%4", "%zz", "%2",
        "%2e", "%2E%2e", "%2e%2E", String(repeating: "x", count: 1025),
        String(repeating: "%E8%AA%9E", count: 342),
    ])
    func `is refused where it is none`(_ text: String) async throws {
        try await TestServer.with { server in
            for tail in ["", "/features/scan", "/timeline"] {
                let answer = try await server.get("/v1/customers/" + text + tail)
                #expect(answer.status == 400 && answer.code == "invalid_request", "\(answer)")
            }
            let written = try await server.post(
                "/v1/customers/\(text)/grants",
                #"{"tier":"pro"}"#
            )
            #expect(written.status == 400)
            #expect(try server.ledger.questions.size() == 0)
        }
    }

    // row 9.4: two ways to write an accent are two customers.
    @Test func `is compared byte by byte`() async throws {
        try await TestServer.with { server in
            try server.publishCatalog()
            let (composed, decomposed) = ("ren\u{E9}-1", "rene\u{301}-1")
            try #require(composed == decomposed)
            for id in [composed, decomposed] {
                let path = "/v1/customers/" + Self.encoded(id)
                // Something is known of both, so that their answers stand.
                let used = try await server.post(path + "/usage", #"{"featureId":"scan"}"#)
                #expect(used.status == 200)
            }
            let path = "/v1/customers/" + Self.encoded(composed)
            _ = try await server.post(path + "/grants", #"{"tier":"pro"}"#)
            let other = "/v1/customers/" + Self.encoded(decomposed)
            for _ in 0..<2 {
                let mine = try await server.get(path + "/features/export")
                #expect(mine.json["allowed"] == .bool(true))
                let theirs = try await server.get(other + "/features/export")
                #expect(theirs.json["allowed"] == .bool(false))
            }
            let token = try server.token(for: composed)
            #expect(try await server.send(.get, path, credential: token).status == 200)
            #expect(try await server.send(.get, other, credential: token).status == 404)
            for (id, status) in [(composed, 200), (decomposed, 404)] {
                let flag = try await server.send(
                    .post,
                    "/ofrep/v1/evaluate/flags/export",
                    credential: token,
                    body: #"{"context":{"targetingKey":"\#(id)"}}"#
                )
                #expect(flag.status == status, "\(flag.body)")
            }
        }
    }
}

extension JSONValue {
    /// A string's text as it stands between quotation marks.
    fileprivate var escaped: String { String(description.dropFirst().dropLast()) }
}
