import Encodings
import Foundation
import LMDBStorage
import Salvage
import Testing

/// What stands in a damaged ledger's directory beside log and vault (row 3.6).
struct `Other files of a damaged ledger` {
    private static func text(_ path: String) throws -> String {
        try String(contentsOfFile: path, encoding: .utf8)
    }

    // Root may read whatever has bytes: a link that leads to itself has none, and nothing stands at
    // the beginning of a process's memory.
    @Test(arguments: ["bad", "/proc/self/mem"])
    func `go along each by itself, and are named where they cannot be read`(
        _ destination: String
    ) async throws {
        try await ScratchLedger.with { scratch in
            try scratch.close()
            let (odd, new) = (scratch.path + "/odd", scratch.path + "-new")
            let manager = FileManager.default
            try manager.createDirectory(atPath: odd, withIntermediateDirectories: true)
            for name in ["/a", "/z"] { try Data("kept".utf8).write(to: URL(filePath: odd + name)) }
            try manager.createSymbolicLink(
                atPath: odd + "/bad",
                withDestinationPath: destination
            )
            let report = try `A salvage`.rescue(scratch.path, into: new)
            #expect(report.notCopied == ["odd/bad"])
            #expect(!report.isWhole && report.lost == 0)
            for name in ["/a", "/z"] { #expect(try Self.text(new + "/odd" + name) == "kept") }
            #expect(try manager.contentsOfDirectory(atPath: new + "/odd").count == 2)
            // The control
            try manager.removeItem(atPath: odd + "/bad")
            let again = try `A salvage`.rescue(scratch.path, into: new + "-2")
            #expect(again.isWhole && again.notCopied == [])
        }
    }

    // Products, say, may stand on another disk.
    @Test func `go along from where links lead, unless in circles or to nothing`() async throws {
        try await ScratchLedger.with { scratch in
            try scratch.close()
            let (elsewhere, new) = (scratch.path + "-elsewhere", scratch.path + "-new")
            let manager = FileManager.default
            for folder in [elsewhere, scratch.path + "/odd"] {
                try manager.createDirectory(atPath: folder, withIntermediateDirectories: true)
                try Data("kept".utf8).write(to: URL(filePath: folder + "/a"))
            }
            let links = [
                ("linked", elsewhere), ("odd/linked", elsewhere), ("round", "."), ("above", ".."),
                ("own", "odd"), ("away", elsewhere + "/missing"),
            ]
            for (link, target) in links {
                try manager.createSymbolicLink(
                    atPath: scratch.path + "/" + link,
                    withDestinationPath: target
                )
            }
            let report = try `A salvage`.rescue(scratch.path, into: new)
            #expect(
                report.notCopied.sorted() == ["above", "away", "odd/linked", "own", "round"]
            )
            #expect(try Self.text(new + "/linked/a") == "kept")
            #expect(ScratchTarget.kind(new + "/linked") == .directory)
            #expect(try manager.contentsOfDirectory(atPath: new + "/odd") == ["a"])
        }
    }

    @Test(.enabled(if: EntitleCommand.isPresent, EntitleCommand.absence))
    func `that were not copied are told by the command`() async throws {
        try await CommandLedger.with { ledger in
            try FileManager.default.createSymbolicLink(
                atPath: ledger.path + "/bad",
                withDestinationPath: "bad"
            )
            let told = try await ledger.run(["salvage", "--into", ledger.path + "-new"])
            #expect(told.code == 3, "\(told)")
            #expect(told.json?["notCopied"]?.array?.map(\.string) == ["bad"], "\(told)")
            #expect(told.json?["ok"]?.bool == false && told.json?["lost"]?.integer == 0)
            let words = ["salvage", "--into", ledger.path + "-2", "--ledger", ledger.path]
            let lines = try await EntitleCommand.run(words)
            #expect(lines.code == 3 && lines.output.contains("not copied: bad"), "\(lines)")
        }
    }
}
