import Encodings
import Entitlements
import Testing

/// `entitle verify` (Stores, rule 5; row 7.5).
@Suite(.enabled(if: EntitleCommand.isPresent, EntitleCommand.absence))
struct `The command verifies` {
    /// A store's authority beside the ledger, and the file that trusts it.
    private static func trust(_ name: String, _ ledger: CommandLedger) async throws -> Trust {
        let file = ledger.folder + "/\(name).pem"
        let root = ledger.folder + "/\(name)-root.pem"
        let made = try await EntitleCommand.run(["simulate", "authority", file, "--root", root])
        #expect(made.code == 0, "\(made.errors)")
        let stores = try ledger.file(
            "stores-\(name).json",
            #"{"appStore":{"bundleIds":["com.example.app"],"appAppleId":1234567890,"#
                + #""roots":["\#(name)-root.pem"]}}"#
        )
        return Trust(authority: file, stores: stores)
    }

    private struct Trust {
        var authority: String
        var stores: String
    }

    @Test func `evidence by today's roots, and keeps what fails once`() async throws {
        try await CommandLedger.with { ledger in
            let (ours, others) = (
                try await Self.trust("one", ledger), try await Self.trust("two", ledger)
            )
            let signed = try await EntitleCommand.run([
                "simulate", "trigger", "SUBSCRIBED/INITIAL_BUY", "--authority", ours.authority,
            ])
            let imported = try await ledger.run(
                ["import", "-", "--stores", ours.stores],
                input: signed.output
            )
            #expect(imported.code == 0, "\(imported.errors)")
            let held = try await ledger.run(["verify", "--stores", ours.stores])
            #expect(held.code == 0 && held.json?["ok"] == .bool(true), "\(held)")
            #expect(held.json?["verified"] == .integer(1))
            // The control
            let fails = try await ledger.run(["verify", "--stores", others.stores])
            #expect(fails.code == 1 && fails.json?["failed"] == .integer(1), "\(fails)")
            #expect(fails.json?["lapsed"] == .integer(1) && fails.json?["recorded"] == .integer(0))
            let listed = fails.json?["evidence"]?.array?.first
            #expect(listed?["code"] == "untrusted_root")
            let recording = ["verify", "--record", "--stores", others.stores]
            let recorded = try await ledger.run(recording)
            #expect(recorded.code == 1 && recorded.json?["recorded"] == .integer(1))
            let again = try await ledger.run(recording)
            #expect(again.code == 1 && again.json?["recorded"] == .integer(0))
            let text = try await EntitleCommand.run(
                ["verify", "--stores", others.stores, "--ledger", ledger.path]
            )
            #expect(text.output.contains("failed, untrusted_root"), "\(text.output)")
        }
    }

    @Test func `nothing where nobody can judge, and says so`() async throws {
        try await CommandLedger.with { ledger in
            let ours = try await Self.trust("one", ledger)
            let signed = try await EntitleCommand.run([
                "simulate", "trigger", "SUBSCRIBED/INITIAL_BUY", "--authority", ours.authority,
            ])
            let words = ["import", "-", "--stores", ours.stores]
            _ = try await ledger.run(words, input: signed.output)
            let unchecked = try await ledger.run(["verify", "--record"])
            #expect(unchecked.code == 0 && unchecked.json?["unchecked"] == .integer(1))
            #expect(unchecked.errors.contains("nobody is configured to judge 1"))
            let nobody = try await ledger.run(["verify", "nobody"])
            #expect(nobody.code == 0 && nobody.json?["evidence"] == .array([]))
            #expect(nobody.json?["customer"] == "nobody")
        }
    }
}
