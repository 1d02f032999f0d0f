import Encodings
import Entitlements
import Foundation
import Scenarios
import StoreSimulator
import Testing

/// The published scenarios, under many deliveries (row Z21).
struct `A scenario` {
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "schemas/scenarios")
    private static let keys = Result { try ScenarioRun.keys() }

    static let files: [String] = {
        let names = try? FileManager.default.contentsOfDirectory(atPath: folder.path)
        return (names ?? []).filter { $0.hasSuffix(".json") }.sorted()
    }()

    static func scenario(_ file: String) throws -> Scenario {
        let scenario = try Scenario(
            parsing: Array(try Data(contentsOf: folder.appending(path: file)))
        )
        #expect(file == scenario.id + ".json")
        return scenario
    }

    @Test func `is one of about thirty`() {
        #expect((28...60).contains(Self.files.count))
        // row Z21: of each store
        for (prefix, least) in [("play_", 6), ("revenuecat_", 3)] {
            #expect(Self.files.count { $0.hasPrefix(prefix) } >= least)
        }
    }

    // row Z21; K7, P9: in order, and each message at once
    @Test(arguments: files)
    func `ends as it is expected to`(_ file: String) async throws {
        let run = try ScenarioRun(Self.scenario(file), keys: Self.keys.get())
        #expect(try await run.run(ScenarioDelivery()) == [])
    }

    // E1, T2: late, twice, in any order
    @Test(arguments: files)
    func `ends so in whatever order it is told`(_ file: String) async throws {
        let run = try ScenarioRun(Self.scenario(file), keys: Self.keys.get())
        for seed in 0..<deliveries {
            let delivery = ScenarioDelivery(seed: seed, duplicatePercent: 20)
            #expect(try await run.run(delivery) == [], "seed \(seed)")
        }
    }

    // row 8.3, row Z12: what was lost is fetched
    @Test(arguments: files)
    func `ends so where messages are lost, after a sync`(_ file: String) async throws {
        let run = try ScenarioRun(Self.scenario(file), keys: Self.keys.get())
        for seed in 0..<deliveries {
            let delivery = ScenarioDelivery(seed: seed, duplicatePercent: 10, losePercent: 50)
            #expect(try await run.run(delivery) == [], "seed \(seed)")
        }
    }

    // row 8.3, row Z12: nothing comes for a while, and no store answers then
    @Test(arguments: files)
    func `ends so after an outage, after a sync`(_ file: String) async throws {
        let run = try ScenarioRun(Self.scenario(file), keys: Self.keys.get())
        for seed in 0..<deliveries / 2 {
            let isShuffled = seed % 2 == 0
            let delivery = ScenarioDelivery(
                seed: isShuffled ? seed : nil,
                duplicatePercent: 10,
                outagePercent: Int(seed * 7 % 100) + 1
            )
            #expect(try await run.run(delivery) == [], "seed \(seed)")
        }
    }

    // the control: what an outage swallows is missed where nobody asks for it
    @Test func `misses what came in an outage, unless it is fetched`() async throws {
        let run = try ScenarioRun(Self.scenario("renewal_chain.json"), keys: Self.keys.get())
        let whole = ScenarioDelivery(outagePercent: 90)
        #expect(try await run.run(whole) == [])
        #expect(try await run.run(whole, isFetched: false) != [])
    }

    /// Deliveries of each; `tools/check-scenarios` tries 200 with the released command.
    private let deliveries: UInt64 = 5

    // the control: signed by the store, the same gives what it says
    @Test func `of what others signed ends otherwise where the store signed it`() async throws {
        let keys = try Self.keys.get()
        let scenario = try Self.scenario("foreign_chain.json")
        let forged = try ScenarioRun(scenario, keys: keys, forger: keys.authority)
        let failures = try await forged.run(ScenarioDelivery())
        #expect(failures.contains { $0.detail.hasPrefix("tier pro") })
    }

    // the control: in production, what a tester buys is alice's, whom the app names there, too
    @Test func `of a tester ends otherwise where the sandbox is production`() async throws {
        let scenario = try Self.scenario("sandbox_beside_production.json")
        let run = try ScenarioRun(scenario, keys: Self.keys.get())
        let failures = try await run.run(ScenarioDelivery()) { submission in
            var changed = submission
            changed.environment = .production
            return changed
        }
        #expect(failures.contains { $0.detail.hasPrefix("tier plus") })
    }

    // the control: a mapping that says another kind, or forgets an end, is found
    @Test func `finds a planted fault in what messages come to`() async throws {
        var found = 0
        for file in Self.files {
            let run = try ScenarioRun(Self.scenario(file), keys: Self.keys.get())
            let failures = try await run.run(ScenarioDelivery()) { submission in
                var changed = submission
                changed.drafts.removeAll { $0.kind == .revocationRefunded }
                return changed.drafts.isEmpty ? submission : changed
            }
            if !failures.isEmpty { found += 1 }
        }
        #expect(found >= 4)
    }

    @Test(arguments: [
        ("{", ""), ("[]", ""), (#"{"id":"A","title":"t","steps":[],"expect":[]}"#, "id"),
        (#"{"id":"a","title":"t","steps":[],"expect":[]}"#, "steps"),
        (#"{"id":"a","title":"t","steps":[{"at":"1d","do":"fly"}],"expect":[]}"#, "steps[0].do"),
        (#"{"id":"a","title":"t","steps":[{"at":"1y","do":"buy"}],"expect":[]}"#, "steps[0].at"),
        (
            #"{"id":"a","title":"t","steps":[{"at":"1d","do":"buy"}],"expect":[]}"#,
            "steps[0].product"
        ),
        (
            #"{"id":"a","title":"t","steps":[{"at":"1d","do":"renew"},{"at":"0d","do":"renew"}],"expect":[{"at":"1d","tier":"pro"}]}"#,
            "steps[1].at"
        ),
        (
            #"{"id":"a","title":"t","store":"x","steps":[{"at":"1d","do":"renew"}],"expect":[]}"#,
            "store"
        ),
        (
            #"{"id":"a","title":"t","steps":[{"at":"1d","do":"pause"}],"expect":[]}"#, "steps[0].do"
        ),
        (
            #"{"id":"a","title":"t","steps":[{"at":"9223372036854775807d","do":"renew"}],"expect":[]}"#,
            "steps[0].at"
        ),
    ])
    func `that cannot be used says where`(_ text: String, _ path: String) throws {
        let fault = #expect(throws: InputFault.self) { try Scenario(parsing: Array(text.utf8)) }
        #expect(fault?.path == path)
    }

    @Test func `about what was not bought says where`() throws {
        let text = """
            {"id":"a","title":"t","steps":[{"at":"1d","do":"buy","product":"month"},
             {"at":"2d","do":"renew","purchase":1}],"expect":[{"at":"1d","tier":"pro"}]}
            """
        let scenario = try Scenario(parsing: Array(text.utf8))
        let fault = #expect(throws: InputFault.self) {
            try ScenarioRun(scenario, keys: Self.keys.get())
        }
        #expect(fault?.path == "steps[1].purchase")
    }
}
