import Encodings
import EntitlementLedger
import Entitlements
import Foundation
import ModelSupport
import Stores
import Testing

/// Webhook bodies of a peer's tests through the command.
@Suite(
    .enabled(if: Vectors.arePresent, "\(Vectors.absence)"),
    .enabled(if: EntitleCommand.isPresent, EntitleCommand.absence)
)
struct `RevenueCat bodies that are imported` {
    static let path = "revenuecat/peer-scenarios/skyhook-envelopes.json"

    private static func cases(_ name: String) throws -> [JSONValue] {
        try #require(try Vectors.json(path)[name]?.array)
    }

    /// The body under another id, so that all of them go into one ledger.
    private static func renamed(_ body: JSONValue, _ id: String) throws -> JSONValue {
        .object(
            try #require(body.members).map { member in
                guard member.name == "event", case .object(let members) = member.value else {
                    return member
                }
                return JSONMember(
                    "event",
                    .object(members.map { $0.name == "id" ? JSONMember("id", .string(id)) : $0 })
                )
            }
        )
    }

    // row 7.6, row Z14: evidence is what was handed in, byte for byte
    @Test func `are kept if a peer accepts them, and shown byte for byte`() async throws {
        let bodies = try Self.cases("positive").enumerated().map { index, vector in
            let body = try Self.renamed(try #require(vector["body"]), "evt-\(index)").description
            // White space and escapes that a parser would not give back.
            return body.replacing(",\"", with: " ,\t\"").replacing("evt-", with: "\\u0065vt-")
        }
        #expect(bodies.count == 37)
        try await CommandLedger.with { ledger in
            let outcome = try await ledger.importing(bodies, ["--format", "revenuecat"])
            #expect(outcome.code == 0, "\(outcome.errors)")
            #expect(outcome.json?.counts == ["appended": 37, "duplicate": 0, "refused": 0])
            let events = try await ledger.run(["events", "--raw", "--source", "revenuecat"]).lines
            var shown: [String: Set<String>] = [:]
            for event in events {
                let id = String((event["id"]?.string ?? "").prefix { $0 != "#" })
                shown[id, default: []].insert(event["evidence"]?.string ?? "none")
            }
            #expect(shown.count == 37)
            for (index, body) in bodies.enumerated() {
                #expect(shown["evt-\(index)"] == [body], "\(body)")
            }
            let again = try await ledger.importing(bodies)
            #expect(again.json?.counts == ["appended": 0, "duplicate": 37, "refused": 0])
            let audit = try await ledger.run(["audit"])
            #expect(audit.json?["ok"]?.bool == true)
        }
    }

    // Stores, rule 6: three of them have nothing but an absurd time, and one id
    @Test func `are refused if a peer refuses them for their shape`() async throws {
        let bodies = try Self.cases("negative").map { ($0["body"] ?? .null).description }
        #expect(bodies.count == 14)
        try await CommandLedger.with { ledger in
            let outcome = try await ledger.importing(
                bodies,
                ["--format", "revenuecat", "--on-error", "skip"]
            )
            #expect(outcome.code == 0, "\(outcome.errors)")
            #expect(outcome.json?.counts == ["appended": 1, "duplicate": 2, "refused": 11])
            let lines = outcome.json?["refusals"]?.array?.compactMap { $0["line"]?.integer }
            #expect(lines == Array(1...10) + [14])
            let stopped = try await ledger.importing(bodies, ["--format", "revenuecat"])
            #expect(stopped.code == 65)
        }
    }

    @Test(
        .enabled(if: Vectors.arePresent, "\(Vectors.absence)"),
        arguments: [
            "skyhook-INITIAL_PURCHASE-appstore", "revcatgo-INITIAL_PURCHASE-play",
            "revcatgo-CANCELLATION-play-billing-error",
        ]
    )
    func `may be pretty-printed files`(_ name: String) async throws {
        let folder = try #require(Vectors.folder)
        let file = folder.appending(path: "revenuecat/peer-scenarios/\(name).json")
        let bytes = try Data(contentsOf: file)
        try await CommandLedger.with { ledger in
            let outcome = try await ledger.run(["import", file.path])
            #expect(outcome.code == 0, "\(outcome.errors)")
            #expect(outcome.json?.counts == ["appended": 1, "duplicate": 0, "refused": 0])
            let events = try await ledger.run(["events", "--raw", "--source", "revenuecat"]).lines
            #expect(!events.isEmpty)
            for event in events {
                #expect(event["evidence"]?.string == String(decoding: bytes, as: UTF8.self))
            }
        }
    }
}
