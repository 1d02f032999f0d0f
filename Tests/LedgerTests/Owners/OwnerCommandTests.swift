import Encodings
import Entitlements
import LedgerAPI
import Testing

/// `entitle transfer` and `entitle release` (Stores, rule 7).
@Suite(.enabled(if: EntitleCommand.isPresent, EntitleCommand.absence))
struct `Owners changed by the command` {
    private static func with(_ body: (CommandLedger) async throws -> Void) async throws {
        try await CommandLedger.with { ledger in
            try ledger.record(
                Sample.ownedPurchase("ann", "app_store/1", until: "2099-01-01T00:00:00.000Z")
            )
            try await body(ledger)
        }
    }

    private static let transfer = ["transfer", "app_store/1", "--to", "bob", "--reason", "asked"]
    private static let release = ["release", "app_store/1", "--reason", "asked"]

    // One of several would be claimed, and the others not.
    @Test func `are claimed by what a store signed, one to a file`() async throws {
        try await CommandLedger.with { ledger in
            let store = #"{"appStore":{"bundleIds":["com.example.app"],"appAppleId":1}}"#
            let stores = try ledger.file("stores.json", store)
            let claim = ["claim", "ann", "--stores", stores, "--signed-transaction"]
            let several = try ledger.file("several", "a.b.c\n\nd.e.f\n")
            let refused = try await ledger.run(claim + [several])
            #expect(refused.code == 65 && refused.problemCode == "malformed", "\(refused)")
            #expect(refused.problem?["detail"]?.string == several + ", line 3")
            // The control: it is looked at what it is.
            let one = try ledger.file("one", "\u{FEFF}a.b.c\r\n \n")
            let looked = try await ledger.run(claim + [one])
            #expect(looked.code == 4, "\(looked)")
        }
    }

    // E4: decided as it would be, and then done the same: the control.
    @Test(arguments: [(transfer, "bob", "pro"), (release, "ann", "free")])
    func `are tried, and then done the same`(
        _ words: [String],
        _ concerned: String,
        _ tier: String
    ) async throws {
        try await Self.with { ledger in
            let size = try await ledger.run(["status"]).json?["sequence"]
            let tried = try await ledger.run(words + ["--dry-run"])
            #expect(tried.code == 0 && tried.json?["dryRun"] == .bool(true), "\(tried)")
            #expect(tried.json?["formerOwner"] == "ann")
            let difference = tried.json?["difference"]
            #expect(difference?["customer"]?.string == concerned)
            #expect(difference?["tier"]?["after"]?.string == tier, "\(tried.output)")
            #expect(try await ledger.run(["status"]).json?["sequence"] == size)

            let done = try await ledger.run(words)
            #expect(done.code == 0 && done.json?["dryRun"] == nil)
            #expect(done.json?["outcome"] == "appended")
            #expect(done.json?["formerOwner"] == "ann")
            #expect(done.json?["sequence"] == tried.json?["sequence"])
            #expect(try await ledger.show(concerned)["tier"]?.string == tier)
            let again = try await ledger.run(words)
            #expect(again.code == 0 && again.json?["outcome"] == "known")
        }
    }

    @Test(arguments: [
        (["release", "app_store/9", "--reason", "r"], 4, "unknown_purchase"),
        (["release", "app_store/9", "--reason", "r", "--dry-run"], 4, "unknown_purchase"),
        (["release", "app_store", "--reason", "r"], 64, "usage"),
        (["release", "app_store/1"], 64, "usage"),
        (["release", "app_store/1", "--reason", ""], 64, "usage"),
        (["transfer", "app_store/1", "--reason", "r"], 64, "usage"),
        (["transfer", "app_store/1", "--to", "", "--reason", "r"], 64, "usage"),
    ])
    func `are refused where they say something else`(
        _ words: [String],
        _ code: Int32,
        _ problem: String
    ) async throws {
        try await Self.with { ledger in
            let outcome = try await ledger.run(words)
            #expect(outcome.code == code && outcome.problemCode == problem, "\(outcome)")
        }
    }

    @Test func `stand in the events of support, with the reason`() async throws {
        try await Self.with { ledger in
            _ = try await ledger.run(Self.transfer)
            let text = try await EntitleCommand.run(Self.release + ["--ledger", ledger.path])
            #expect(text.output.hasPrefix("released"), "\(text)")
            let listed = try await ledger.run(["events", "--purchase", "app_store/1"])
            let notes = listed.lines.filter { $0["type"] == "signal.noted" }
            #expect(
                notes.map { $0["data"]?["name"] } == ["purchase_transferred", "purchase_released"]
            )
            #expect(notes.map { $0["data"]?["detail"] } == ["asked", "asked"])
        }
    }
}
