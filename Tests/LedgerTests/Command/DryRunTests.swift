import Encodings
import EntitlementLedger
import Entitlements
import Foundation
import LedgerOperations
import Synchronization
import Testing

/// What a change would do, before it is made.
@Suite(.enabled(if: EntitleCommand.isPresent, EntitleCommand.absence))
struct `A dry run` {
    private static func with(_ body: (CommandLedger) async throws -> Void) async throws {
        try await CommandLedger.with { ledger in
            try ledger.record(
                Sample.ownedPurchase("ann", "app_store/1", until: "2099-01-01T00:00:00.000Z")
                    + Sample.ownedPurchase("bob", "app_store/2", until: "2099-01-01T00:00:00.000Z")
            )
            #expect(
                try await ledger.run(["grant", "eve", "--tier", "pro", "--grant-id", "g"]).code == 0
            )
            try await body(ledger)
        }
    }

    // E4: decided as it would be, and then done the same: the control.
    @Test(arguments: [
        (["grant", "cy", "--tier", "pro"], "pro"), (["withdraw", "eve", "g"], "free"),
        (["trial", "cy", "week"], "pro"), (["link", "ann", "cy"], nil),
        (["use", "cy", "scan"], nil), (["claim", "ann", "app_store/9"], nil),
    ])
    func `says what the change then does, and records nothing`(
        _ words: [String],
        _ tier: String?
    ) async throws {
        try await Self.with { ledger in
            let customer = words[1]
            let size = try await ledger.run(["status"]).json?["sequence"]
            let state = try await ledger.show(customer, ["--at", "2030-01-01"])
            let tried = try await ledger.run(words + ["--dry-run"])
            #expect(tried.code == 0 && tried.json?["dryRun"] == .bool(true), "\(tried)")
            #expect(tried.json?["outcome"] == "appended")
            let after = tried.json?["difference"]?["tier"]?["after"]
            #expect(after?.string == tier, "\(tried.output)")
            #expect(try await ledger.run(["status"]).json?["sequence"] == size)
            #expect(try await ledger.show(customer, ["--at", "2030-01-01"]) == state)

            let done = try await ledger.run(words)
            #expect(done.code == 0 && done.json?["dryRun"] == nil)
            #expect(done.json?["sequence"] == tried.json?["sequence"])
            let tierNow = try await ledger.show(customer)["tier"]
            #expect(tier == nil || tierNow?.string == tier)
        }
    }

    @Test(arguments: [
        (["withdraw", "ann", "none"], 4, "unknown_grant"), (["use", "ann", "export2"], 64, ""),
        (["claim", "ann", "app_store/2"], 4, "claimed_by_another"),
        (["trial", "ann", "month"], 4, "unknown_trial"),
    ])
    func `is refused as the change would be`(
        _ words: [String],
        _ code: Int32,
        _ problem: String
    ) async throws {
        try await Self.with { ledger in
            let tried = try await ledger.run(words + ["--dry-run"])
            let done = try await ledger.run(words)
            #expect(tried.code == code && tried.code == done.code, "\(tried.errors)")
            #expect(tried.problemCode == done.problemCode)
            #expect(problem.isEmpty || tried.problemCode == problem)
        }
    }

    @Test func `works beside whoever writes, who keeps others from recording`() async throws {
        try await Self.with { ledger in
            let writer = try Ledger.open(at: ledger.path)
            let words = ["grant", "cy", "--tier", "pro"]
            let tried = try await ledger.run(words + ["--dry-run"])
            #expect(tried.code == 0 && tried.json?["dryRun"] == .bool(true), "\(tried)")
            #expect(try await ledger.run(words).code == 75)
            try Forking.lock.withLock { _ in try writer.close() }
        }
    }

    @Test func `of a catalog says that it could be published`() async throws {
        try await Self.with { ledger in
            let file = ledger.folder + "/c.json"
            let catalog = #"{"tiers":["free"],"features":[],"products":[]}"#
            try Data(catalog.utf8).write(to: URL(filePath: file))
            let words = ["catalog", "publish", file, "--dry-run"]
            let tried = try await ledger.run(words)
            #expect(tried.code == 0 && tried.json?["difference"] == .null, "\(tried)")
            let text = try await EntitleCommand.run(words + ["--ledger", ledger.path])
            #expect(text.output.hasPrefix("dry run: nothing is recorded; published the catalog"))
        }
    }
}
