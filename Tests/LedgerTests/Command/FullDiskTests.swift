import Entitlements
import Foundation
import Glibc
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
    @Test(arguments: [3_100, 5_050])
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
}
