import Encodings
import Entitlements
import Foundation
import Glibc
import Testing

/// Every option that names a file to be written, held against everything that may stand there.
@Suite(.enabled(if: EntitleCommand.isPresent, EntitleCommand.absence))
struct `An option that names a file to write` {
    /// What writes it; the path comes last.
    struct Option: CustomTestStringConvertible {
        /// As `CommandPaths` names it.
        var name: String
        var words: [String]
        /// Whether it names people or opens something.
        var isPrivate: Bool
        var testDescription: String { name }
    }

    /// `bench --partner-records` is for the project's own tools: the house holds it to the same way.
    static let options = [
        Option(
            name: "whatif --output",
            words: ["whatif", "--catalog", "catalog.json", "--output"],
            isPrivate: true
        ),
        Option(
            name: "compare revenuecat --output",
            words: ["compare", "revenuecat", "--from", "/dev/null", "--output"],
            isPrivate: true
        ),
        Option(name: "prove --output", words: ["prove", "0", "--output"], isPrivate: false),
        Option(
            name: "checkpoint --publish",
            words: ["checkpoint", "--publish"],
            isPrivate: false
        ),
        Option(name: "audit --html", words: ["audit", "--html"], isPrivate: true),
        Option(name: "timeline --svg", words: ["timeline", "ann", "--svg"], isPrivate: true),
    ]

    private static func with(
        _ option: Option,
        _ body: (
            _ ledger: CommandLedger, _ write: (String) async throws -> EntitleCommand.Outcome
        ) async throws -> Void
    ) async throws {
        try await CommandLedger.with { ledger in
            let lines = Sample.ownedPurchase("ann", "app_store/1")
            try ledger.record(lines)
            let words = option.words.map { $0 == "catalog.json" ? ledger.folder + "/" + $0 : $0 }
            try await body(ledger) { try await ledger.run(words + [$0]) }
        }
    }

    @Test(arguments: options)
    func `replaces files, follows links, and writes to what is neither`(
        _ option: Option
    ) async throws {
        try await Self.with(option) { ledger, write in
            let manager = FileManager.default
            let (folder, link) = (ledger.folder + "/far", ledger.folder + "/link")
            try manager.createDirectory(atPath: folder, withIntermediateDirectories: true)
            let file = folder + "/file"
            #expect(manager.createFile(atPath: file, contents: Data()))
            try manager.createSymbolicLink(atPath: link, withDestinationPath: "far/file")
            let old = try FileHandle(forReadingFrom: URL(filePath: file))
            let linked = try await write(link)
            #expect(linked.code == 0, "\(linked.errors)")
            #expect(ScratchTarget.kind(link) == .link)
            #expect(try old.readToEnd()?.isEmpty ?? true, "it was written over, not replaced")
            let bytes = try Data(contentsOf: URL(filePath: file))
            // Of nobody who gains, loses or differs there is no line.
            let isEmpty = ["whatif --output", "compare revenuecat --output"].contains(option.name)
            #expect(isEmpty || !bytes.isEmpty)
            #expect(ScratchTarget.permissions(file) == (option.isPrivate ? 0o600 : 0o644))
            #expect(try manager.contentsOfDirectory(atPath: folder) == ["file"])

            let pipe = ledger.folder + "/pipe"
            let read = try await ScratchTarget.readingPipe(pipe) {
                let piped = try await write(pipe)
                #expect(piped.code == 0, "\(piped.errors)")
            }
            #expect(read.isEmpty == bytes.isEmpty)
            #expect(ScratchTarget.kind(pipe) == .pipe)
            let device = ledger.folder + "/null"
            if ScratchTarget.makeDevice(device) {
                let lost = try await write(device)
                #expect(lost.code == 0, "\(lost.errors)")
                #expect(ScratchTarget.kind(device) == .device)
            }
        }
    }

    @Test(arguments: options)
    func `says why it cannot`(_ option: Option) async throws {
        try await Self.with(option) { ledger, write in
            let folder = ledger.folder + "/folder"
            let nowhere = try await write(folder + "/file")
            #expect(nowhere.code == 73 && nowhere.problemCode == "cannot_create", "\(nowhere)")
            #expect(nowhere.problem?["detail"]?.string == folder + "/file")
            try FileManager.default.createDirectory(
                atPath: folder,
                withIntermediateDirectories: true
            )
            // A checkpoint goes into a directory.
            guard option.name != "checkpoint --publish" else { return }
            let refused = try await write(folder)
            #expect(refused.code == 73 && refused.problemCode == "cannot_create", "\(refused)")
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder).isEmpty)
        }
    }

    // `simulate authority FILE --root FILE`: keys take the place of nothing at all.
    @Test func `of new keys takes a place where nothing stands`() async throws {
        try await withScratchDirectory { folder in
            func make(_ file: String, _ root: String) async throws -> Int32 {
                try await EntitleCommand.run([
                    "simulate", "authority", folder + "/" + file, "--root", folder + "/" + root,
                ])
                .code
            }
            let manager = FileManager.default
            try manager.createSymbolicLink(
                atPath: folder + "/link",
                withDestinationPath: "elsewhere"
            )
            _ = try await ScratchTarget.readingPipe(folder + "/pipe") {
                let codes = [
                    try await make("link", "r1"), try await make("pipe", "r1"),
                    try await make("a1", "link"), try await make("a2", "pipe"),
                ]
                #expect(codes == [73, 73, 73, 73])
            }
            #expect(try await make("a3", "r3") == 0)
            #expect(ScratchTarget.permissions(folder + "/a3") == 0o600)
            let left = try manager.contentsOfDirectory(atPath: folder).sorted()
            #expect(left == ["a1", "a2", "a3", "link", "pipe", "r3"])
        }
    }
}
