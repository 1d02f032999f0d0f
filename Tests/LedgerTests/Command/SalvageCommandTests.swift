import Encodings
import Entitlements
import Foundation
import Testing

/// The small files that a ledger cannot do without come back from a backup (row 3.6, row Z5, row Z6).
@Suite(.enabled(if: EntitleCommand.isPresent, EntitleCommand.absence))
struct `A salvage by the command` {
    /// Lends a ledger with two customers, and a backup of it.
    private static func backedUp(
        _ body: (CommandLedger, _ backup: String) async throws -> Void
    ) async throws {
        try await CommandLedger.with { ledger in
            for customer in ["ann", "bob"] {
                let granted = try await ledger.run(["grant", customer, "--tier", "pro"])
                #expect(granted.code == 0, "\(granted.errors)")
            }
            let backup = ledger.folder + "/backup"
            let made = try await ledger.run(["backup", backup])
            #expect(made.code == 0, "\(made.errors)")
            try await body(ledger, backup)
        }
    }

    private static func lose(_ ledger: CommandLedger, _ names: [String]) throws {
        for name in names {
            try FileManager.default.removeItem(atPath: ledger.path + "/" + name)
        }
    }

    /// A question to the ledger that was rescued.
    private static func tier(_ customer: String, of path: String) async throws -> String? {
        let shown = try await EntitleCommand.run(
            ["show", customer, "--json", "--ledger", path]
        )
        #expect(shown.code == 0, "\(shown.errors)")
        return shown.json?["tier"]?.string
    }

    @Test func `takes the ledger's name and epoch keys from a backup`() async throws {
        try await Self.backedUp { ledger, backup in
            try Self.lose(ledger, ["ledger.json", "vault/epoch-keys"])
            let new = ledger.path + "-new"
            // The negative control: without the backup there is neither.
            #expect(try await ledger.run(["salvage", "--into", new]).code == 65)
            let rescued = try await ledger.run(["salvage", "--into", new, "--backup", backup])
            #expect(rescued.code == 0, "\(rescued)")
            #expect(try await Self.tier("ann", of: new) == "pro")
            #expect(try await EntitleCommand.run(["audit", "--ledger", new]).code == 0)
        }
    }

    @Test func `brings nobody back whom the log erased`() async throws {
        try await Self.backedUp { ledger, backup in
            // A copy that no erasure reached.
            let older = backup + "-older"
            try FileManager.default.copyItem(atPath: backup, toPath: older)
            let erased = try await ledger.run(["erase", "ann", "--confirm", "ann"])
            #expect(erased.code == 0, "\(erased)")
            // With the vault its tombstones are lost: only the log says who is gone.
            try Self.lose(ledger, ["vault"])
            let new = ledger.path + "-new"
            let rescued = try await ledger.run(["salvage", "--into", new, "--backup", older])
            #expect(rescued.code == 0, "\(rescued)")
            #expect(try await Self.tier("ann", of: new) != "pro")
            // The negative control: those keys open who is not erased.
            #expect(try await Self.tier("bob", of: new) == "pro")
        }
    }

    @Test func `takes no other ledger's keys`() async throws {
        try await Self.backedUp { ledger, _ in
            try await CommandLedger.with { other in
                let key = ledger.path + "/key"
                try FileManager.default.removeItem(atPath: other.path + "/key")
                try FileManager.default.copyItem(atPath: key, toPath: other.path + "/key")
                try Self.lose(ledger, ["vault/epoch-keys"])
                let refused = try await ledger.run(
                    ["salvage", "--into", ledger.path + "-new", "--from", other.path]
                )
                #expect(refused.code != 0, "\(refused)")
            }
        }
    }
}
