import Encodings
import Entitlements
import EventLog
import Foundation
import LMDBStorage
import Salvage
import Testing

/// Folders that options name: what is not ours in them stays as it is.
@Suite(.enabled(if: EntitleCommand.isPresent, EntitleCommand.absence))
struct `A folder that is written to` {
    private static func text(_ path: String) throws -> String {
        try String(contentsOfFile: path, encoding: .utf8)
    }

    @Test func `holds nothing else, or is refused, whatever leads to it`() async throws {
        try await CommandLedger.with { ledger in
            let manager = FileManager.default
            let (full, link) = (ledger.folder + "/full", ledger.folder + "/link")
            try manager.createDirectory(atPath: full, withIntermediateDirectories: true)
            let theirs = try ledger.file("full/events.ndjson", "theirs")
            try manager.createSymbolicLink(atPath: link, withDestinationPath: "full")
            let backup = ledger.folder + "/backup"
            #expect(try await ledger.run(["backup", backup]).code == 0)
            let exporting = ["export", "--from", "0", "--output"]
            let asked = [
                exporting + [full], exporting + [link], ["backup", full], ["backup", link],
                ["restore", backup, "--into", link], ["salvage", "--into", link],
                // A file is no folder.
                exporting + [theirs], ["backup", theirs], ["restore", backup, "--into", theirs],
                ["salvage", "--into", theirs], ["archive", "--to", theirs],
            ]
            for words in asked {
                let outcome = try await ledger.run(words)
                #expect(outcome.code == 73, "\(words): \(outcome)")
            }
            // Which one is meant is said.
            for (words, place) in [
                (["backup", theirs], theirs), (["restore", backup, "--into", theirs], theirs),
                (["restore", backup, "--into", full], full),
                (["restore", ledger.path, "--into", ledger.folder + "/new"], ledger.path),
            ] {
                let refused = try await ledger.run(words)
                #expect(refused.problem?["detail"]?.string == place, "\(words): \(refused)")
            }
            let made = try await EntitleCommand.run(["init", "--ledger", theirs, "--json"])
            #expect(made.code == 73 && made.problem?["detail"]?.string == theirs, "\(made)")
            #expect(try Self.text(theirs) == "theirs")
            #expect(try manager.contentsOfDirectory(atPath: full) == ["events.ndjson"])
            // The control: an empty folder at the end of a link is as good as one.
            try manager.removeItem(atPath: theirs)
            let exported = try await ledger.run(exporting + [link])
            #expect(exported.code == 0, "\(exported)")
            #expect(ScratchTarget.kind(link) == .link)
        }
    }

    // Two ledgers, one place
    @Test func `of another ledger is left to it`() async throws {
        try await CommandLedger.with { ledger in
            try await CommandLedger.with { other in
                let backup = ledger.folder + "/backup"
                #expect(try await ledger.run(["backup", backup, "--vault-only"]).code == 0)
                let keys = try Data(contentsOf: URL(filePath: backup + "/vault/epoch-keys"))
                let taken = try await other.run(["backup", backup, "--vault-only"])
                #expect(taken.code == 73 && taken.problemCode == "not_empty", "\(taken)")
                #expect(try Data(contentsOf: URL(filePath: backup + "/vault/epoch-keys")) == keys)
                let archived = try await other.run(["archive", "--to", ledger.path])
                #expect(archived.code == 3, "\(archived)")
                #expect(ScratchTarget.kind(ledger.path + "/tile") == nil)
            }
        }
    }

    // A pipe among the files would be read for ever.
    @Test func `by a salvage holds files alone`() async throws {
        try await ScratchLedger.with { scratch in
            try scratch.close()
            let (odd, new) = (scratch.path + "/odd", scratch.path + "-new")
            try FileManager.default.createDirectory(atPath: odd, withIntermediateDirectories: true)
            try Data("kept".utf8).write(to: URL(filePath: odd + "/file"))
            try FileManager.default.createSymbolicLink(
                atPath: scratch.path + "/link",
                withDestinationPath: "odd/file"
            )
            _ = try await ScratchTarget.readingPipe(odd + "/pipe") {
                let salvage = try LedgerSalvage(
                    of: scratch.path,
                    masterKey: (0..<32).map { UInt8($0) },
                    rules: SalvageRules(
                        sharedPartDigest: { _ in nil },
                        namedStreams: { _ in [] },
                        erasedStreams: { _ in [] },
                        deletedEvidence: { _ in [] }
                    )
                )
                _ = try salvage.rescue(into: new)
            }
            #expect(try Self.text(new + "/odd/file") == "kept")
            #expect(try Self.text(new + "/link") == "kept")
            #expect(ScratchTarget.kind(new + "/link") == .file)
            #expect(ScratchTarget.kind(new + "/odd/pipe") == nil)
        }
    }

    // An export that somebody else made leads nowhere, and ends.
    @Test func `is no export where a link or a pipe stands in it`() async throws {
        try await CommandLedger.with { ledger in
            let manager = FileManager.default
            let out = ledger.folder + "/out"
            #expect(try await ledger.run(["export", "--from", "0", "--output", out]).code == 0)
            func check() async throws -> EntitleCommand.Outcome {
                try await EntitleCommand.run(["check-export", out, "--json"])
            }
            #expect(try await check().code == 0)
            let (file, elsewhere) = (out + "/proofs.ndjson", ledger.folder + "/elsewhere")
            for name in ["manifest.json", "proofs.ndjson"] {
                let file = out + "/" + name
                try manager.moveItem(atPath: file, toPath: elsewhere)
                try manager.createSymbolicLink(atPath: file, withDestinationPath: elsewhere)
                let linked = try await check()
                #expect(linked.code == 3, "\(linked)")
                let named = linked.json?["faults"]?.array?.compactMap { $0["file"]?.string } ?? []
                #expect(named.contains(name))
                try manager.removeItem(atPath: file)
                try manager.moveItem(atPath: elsewhere, toPath: file)
            }
            try manager.moveItem(atPath: file, toPath: elsewhere)
            _ = try await ScratchTarget.readingPipe(file) {
                let outcome = try await check()
                #expect(outcome.code == 3, "\(outcome)")
            }
            let piped = try await EntitleCommand.run(["check-export", file, "--json"])
            #expect(piped.code == 66 && piped.problemCode == "no_input", "\(piped)")
        }
    }

    @Test func `is for its owner only, and so is every file that names people`() async throws {
        try await CommandLedger.with { ledger in
            let lines = Sample.ownedPurchase("ann", "app_store/1") + ["{"]
            _ = try await ledger.importing(lines, ["--on-error", "quarantine"])
            let asked = [
                ["export", "--customer", "ann", "--output", "export"]
                    + ["ndjson", "csv", "sqlite", "html"].flatMap { ["--format", $0] },
                ["backup", "backup"], ["archive"], ["keys", "create", "--scope", "read"],
                ["whatif", "--catalog", "catalog.json", "--output", "whatif"],
                ["timeline", "ann", "--svg", "svg"], ["audit", "--html", "html"],
                ["salvage", "--into", "salvaged"], ["restore", "backup", "--into", "restored"],
            ]
            let places = Set(
                asked.flatMap { $0 }.filter { word in
                    [
                        "export", "backup", "catalog.json", "whatif", "svg", "html", "salvaged",
                        "restored",
                    ]
                    .contains(word)
                }
            )
            for words in asked {
                let placed = words.enumerated().map { index, word in
                    index > 0 && places.contains(word) && words[index - 1] != "--format"
                        ? ledger.folder + "/" + word : word
                }
                let outcome = try await ledger.run(placed)
                #expect(outcome.code == 0, "\(words): \(outcome)")
            }
            func open() throws -> [String] {
                try files(below: ledger.folder).map(\.path).filter { path in
                    let permissions = ScratchTarget.permissions(ledger.folder + "/" + path) ?? 0o777
                    return permissions & 0o077 != 0
                }
            }
            // What names nobody: ids and keys to verify by; and the test's own.
            let shared = ["ledger/ledger.json", "restored/ledger.json", "salvaged/ledger.json"]
            let found = try open().sorted()
            #expect(found == (["catalog.json"] + shared).sorted())
            #expect(try files(below: ledger.path + "/quarantine").count == 2)
            // The control
            _ = try ledger.file("planted", "ann")
            #expect(try open().contains("planted"))
        }
    }
}
