import EntitlementLedger
import Foundation
import LedgerOperations
import Testing

/// The folders of a ledger's directory.
struct `A ledger's folders` {
    private static func permissions(below path: String) throws -> [String: Int] {
        let manager = FileManager.default
        var found: [String: Int] = [:]
        for case let name as String in manager.enumerator(atPath: path) ?? .init() {
            let attributes = try manager.attributesOfItem(atPath: path + "/" + name)
            guard attributes[.type] as? FileAttributeType == .typeDirectory else { continue }
            found[name] = (attributes[.posixPermissions] as? NSNumber)?.intValue
        }
        return found
    }

    // Whoever makes them: `init`, the views' generations, what makes them anew.
    @Test func `are its owner's alone`() async throws {
        try await CommandLedger.with { ledger in
            let made = try Self.permissions(below: ledger.path)
            #expect(made.keys.contains { $0.hasPrefix("views/") }, "there is a generation")
            #expect(made.filter { $0.value != 0o700 } == [:])
            try FileManager.default.removeItem(atPath: ledger.path + "/views")
            try Ledger.open(at: ledger.path).close()
            let again = try Self.permissions(below: ledger.path)
            #expect(again.keys.contains { $0.hasPrefix("views/") })
            #expect(again.filter { $0.value != 0o700 } == [:])
        }
    }

    /// Tells what a program has the kernel do.
    private static let tracer = "/usr/bin/strace"

    // A power cut takes with a name all that stands below it.
    @Test(
        .enabled(if: EntitleCommand.isPresent, EntitleCommand.absence),
        .enabled(if: FileManager.default.isExecutableFile(atPath: tracer), "there is no strace")
    )
    func `stand on the disk by their names, as do those above them that were made`() async throws {
        try await withScratchDirectory { folder in
            let files = ["in", "out", "err"].map { folder + "/" + $0 }
            for file in files { try Data().write(to: URL(filePath: file)) }
            func text(_ file: String) throws -> String {
                String(decoding: try Data(contentsOf: URL(filePath: file)), as: UTF8.self)
            }
            let trace = folder + "/trace"
            let command = SpawnedCommand(
                path: Self.tracer,
                arguments: [
                    "-f", "-y", "-e", "trace=fsync", "-o", trace,
                    try #require(EntitleCommand.executable), "init", "--ledger",
                    folder + "/one/other/ledger",
                ],
                environment: ["PATH": "/usr/bin:/bin", "NO_COLOR": "1"],
                folder: folder,
                files: files
            )
            let code = try await command.run()
            let errors = try text(files[2])
            guard !errors.contains("ptrace") else {
                withKnownIssue("this machine has no program traced") {
                    Issue.record("strace failed")
                }
                return
            }
            #expect(code == 0, "\(errors)")
            let synced = try text(trace)
            let place = URL(filePath: folder).resolvingSymlinksInPath().path
            for name in ["", "/one", "/one/other", "/one/other/ledger"] {
                #expect(synced.contains("<\(place)\(name)>"), "\(name)")
            }
        }
    }
}
