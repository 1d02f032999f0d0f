import DurableFiles
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

    @Test func `names the directory that is not empty, which is not the damaged one`() async throws
    {
        try await CommandLedger.with { ledger in
            let refused = try await ledger.run(["salvage", "--into", ledger.folder])
            #expect(refused.code == 73 && refused.problemCode == "not_empty", "\(refused)")
            #expect(refused.problem?["detail"]?.string == ledger.folder, "\(refused)")
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

    /// Fills every copy of a record in the log's file with zeros.
    private static func erase(_ sequence: UInt8, in ledger: CommandLedger) throws {
        let file = URL(filePath: ledger.path + "/log/data.mdb")
        var data = try Data(contentsOf: file)
        var from = data.startIndex
        while let magic = data.range(of: Data("ELR1".utf8), in: from..<data.endIndex) {
            from = magic.upperBound
            let (length, number) = (data[from], Array(data[from + 4..<from + 12]))
            guard number == [sequence] + Array(repeating: 0, count: 7) else { continue }
            data.resetBytes(in: magic.lowerBound..<magic.lowerBound + Int(length))
        }
        try data.write(to: file)
    }

    // What is restored lacks what the source lacked, and is left to be used.
    @Test func `leaves a loss that a restore of the new ledger tells as well`() async throws {
        try await CommandLedger.with { ledger in
            try ledger.record(
                (0..<100).flatMap { Sample.ownedPurchase("u\($0)", "app_store/\($0)") }
            )
            try Self.erase(150, in: ledger)
            let (new, backup, again) = (
                ledger.path + "-new", ledger.folder + "/backup", ledger.folder + "/again"
            )
            let rescued = try await ledger.run(["salvage", "--into", new])
            #expect(rescued.code == 3, "\(rescued)")
            let made = try await EntitleCommand.run(["backup", backup, "--ledger", new, "--json"])
            #expect(made.code == 0, "\(made)")
            let key = ["ENTITLE_KEY_FILE": ledger.path + "/key"]
            // The control: the events before the loss lack nothing.
            for (cut, isLost) in [([], true), (["--until-sequence", "150"], false)] {
                let into = again + "-\(isLost)"
                let restored = try await EntitleCommand.run(
                    ["restore", backup, "--into", into, "--json"] + cut,
                    environment: key
                )
                #expect(restored.code == (isLost ? 3 : 0), "\(restored)")
                let shown = try await EntitleCommand.run(
                    ["show", "u7", "--ledger", into, "--json"],
                    environment: key
                )
                #expect(shown.code == 0, "\(shown)")
                #expect(shown.output.contains("events_lost") == isLost)
                let file = "/loss.json"
                #expect(
                    try DurableFile.read(into + file)
                        == (isLost ? try DurableFile.read(new + file) : nil)
                )
            }
        }
    }

    // One name and key would sign two histories.
    @Test func `goes on under no name that the log has or had`() async throws {
        try await Self.backedUp { ledger, _ in
            let new = ledger.path + "-new"
            let words = ["salvage", "--into", new, "--continue", "--origin"]
            let refused = try await ledger.run(words + [ledger.origin])
            #expect(refused.code == 64, "\(refused)")
            #expect(!FileManager.default.fileExists(atPath: new))
            let rescued = try await ledger.run(words + ["ledger.example/again"])
            #expect(rescued.code == 0, "the control: \(rescued)")
            let (third, first) = (ledger.path + "-third", try ledger.origin)
            for (origin, code) in [
                (first, 64), ("ledger.example/again", 64), ("ledger.example/third", 0),
            ] as [(String, Int32)] {
                let made = try await EntitleCommand.run(
                    ["salvage", "--ledger", new, "--into", third, "--continue", "--origin", origin]
                )
                #expect(made.code == code, "\(origin): \(made)")
                #expect(FileManager.default.fileExists(atPath: third) == (code == 0))
            }
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
