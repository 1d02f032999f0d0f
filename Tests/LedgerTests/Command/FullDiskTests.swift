import Encodings
import Entitlements
import Foundation
import Glibc
import Synchronization
import Testing

/// A file system in memory of a given size.
enum SmallDisk {
    static let absence: Comment = "only root may mount a tmpfs"
    static var isPossible: Bool {
        getuid() == 0 && FileManager.default.isExecutableFile(atPath: "/usr/bin/mount")
    }

    static func mount(_ path: String, _ options: String) -> Bool {
        run("/usr/bin/mount", ["-t", "tmpfs", "-o", options, "tmpfs", path])
    }

    static func unmount(_ path: String) { _ = run("/usr/bin/umount", ["-l", path]) }

    private static func run(_ tool: String, _ arguments: [String]) -> Bool {
        let process = Process()
        process.executableURL = URL(filePath: tool)
        process.arguments = arguments
        process.standardError = FileHandle.nullDevice
        guard (try? process.run()) != nil else { return false }
        process.waitUntilExit()
        return process.terminationStatus == 0
    }
}

@Suite(
    .enabled(if: EntitleCommand.isPresent, EntitleCommand.absence),
    .enabled(if: SmallDisk.isPossible, SmallDisk.absence)
)
struct `A full disk` {
    // Storage, "Append" 6; E2, E3
    @Test(arguments: [3_100, 3_700])
    func `ends an import with exit 74, half-writes nothing, and is gone on with later`(
        _ kibibytes: Int
    ) async throws {
        try await withScratchDirectory { folder in
            let disk = folder + "/disk"
            try FileManager.default.createDirectory(atPath: disk, withIntermediateDirectories: true)
            guard SmallDisk.mount(disk, "size=\(kibibytes)k") else {
                withKnownIssue("this machine mounts no tmpfs") { Issue.record("mount failed") }
                return
            }
            defer { SmallDisk.unmount(disk) }
            let ledger = CommandLedger(folder: disk)
            let made = try await ledger.run(["init"])
            #expect(made.code == 0, "\(made.errors)")
            let lines = (0..<12_000).map { Sample.purchaseLine("e\($0)", "app_store/\($0)") }

            let full = try await ledger.importing(lines)
            #expect(full.code == 74, "\(full.errors)")
            #expect(full.problemCode == "storage_full", "\(full.errors)")

            // What stands is sound, though nothing can be written.
            let audit = try await ledger.run(["audit"])
            #expect(audit.code == 0, "\(audit.errors)\(audit.output)")
            let standing = audit.json?["records"]?.integer ?? -1
            #expect(standing >= 0 && standing < 12_000)
            let again = try await ledger.importing(lines)
            #expect(again.code == 74, "\(again.errors)")

            #expect(SmallDisk.mount(disk, "remount,size=200m"))
            let rest = try await ledger.importing(lines)
            #expect(rest.code == 0, "\(rest.errors)")
            #expect(rest.json?["sequence"]?.integer == 12_000)
            #expect((rest.json?["duplicate"]?.integer ?? 0) >= standing)
            let sound = try await ledger.run(["audit"])
            #expect(sound.code == 0, "\(sound.errors)\(sound.output)")
            #expect(sound.json?["records"]?.integer == 12_000)
        }
    }

    // Who asks is answered, and what stands is brought to safety, before there is room again.
    @Test func `is served read-only, and backed up to another one`() async throws {
        try await withScratchDirectory { folder in
            let disk = folder + "/disk"
            try FileManager.default.createDirectory(atPath: disk, withIntermediateDirectories: true)
            guard SmallDisk.mount(disk, "size=4000k") else {
                withKnownIssue("this machine mounts no tmpfs") { Issue.record("mount failed") }
                return
            }
            defer { SmallDisk.unmount(disk) }
            let ledger = CommandLedger(folder: disk)
            _ = try await ledger.run(["init"])
            let lines = (0..<50).map { Sample.purchaseLine("e\($0)", "app_store/\($0)") }
            let imported = try await ledger.importing(lines)
            #expect(imported.code == 0, "\(imported.errors)")
            // Nothing of the disk is left.
            #expect(FileManager.default.createFile(atPath: disk + "/rest", contents: nil))
            let rest = try FileHandle(forWritingTo: URL(filePath: disk + "/rest"))
            while (try? rest.write(contentsOf: Data(count: 4096))) != nil {}
            try rest.close()
            let granted = try await ledger.run(["grant", "ann", "--tier", "pro"])
            #expect(granted.code == 74, "\(granted)")

            let backup = folder + "/backup"
            let backedUp = try await ledger.run(["backup", backup])
            #expect(backedUp.code == 0, "\(backedUp)")
            #expect(backedUp.json?["vault"]?["streams"]?.integer == 50)
            // A server that is told to end at once, which it does once it listens.
            let served = try await Self.serve(ledger)
            #expect(served.code == 0, "\(served)")
            #expect(served.output.contains("listening"), "\(served)")
            #expect(served.errors.contains("the disk is full"), "\(served)")

            #expect(SmallDisk.mount(disk, "remount,size=200m"))
            let audit = try await ledger.run(["audit"])
            #expect(audit.code == 0, "\(audit)")
            // The control: with room it is written to again.
            let writing = try await Self.serve(ledger)
            #expect(writing.code == 0 && !writing.errors.contains("the disk is full"))
        }
    }

    /// Runs a server until it listens, and tells it to end.
    private static func serve(_ ledger: CommandLedger) async throws -> EntitleCommand.Outcome {
        let process = Process()
        process.executableURL = URL(filePath: try #require(EntitleCommand.executable))
        process.arguments = ["serve", "--port", "0", "--json", "--ledger", ledger.path]
        let (output, errors) = (Pipe(), Pipe())
        process.standardOutput = output
        process.standardError = errors
        try Forking.lock.withLock { _ in try process.run() }
        // The first line, or its end.
        let first = output.fileHandleForReading.availableData
        process.terminate()
        process.waitUntilExit()
        let said = try errors.fileHandleForReading.readToEnd() ?? Data()
        return EntitleCommand.Outcome(
            code: process.terminationStatus,
            output: String(decoding: first, as: UTF8.self),
            errors: String(decoding: said, as: UTF8.self)
        )
    }
}
