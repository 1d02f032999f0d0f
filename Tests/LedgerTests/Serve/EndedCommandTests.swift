import Foundation
import Glibc
import Synchronization
import Testing

/// What becomes of a command that somebody ends, and of the ledger that it made for itself.
@Suite(.enabled(if: EntitleCommand.isPresent, EntitleCommand.absence))
struct `A command that is ended` {
    /// Ledgers that are gone with their server, in the folder for temporary files.
    private static func ledgers(in folder: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder)
            .filter { $0.hasPrefix("entitle-") }
    }

    // The networking has its process pass over SIGPIPE, as whoever starts a command may.
    @Test func `by a closed pipe ends as the system ends any`() async throws {
        let ended = try await EntitleCommand.run(
            ["schemas"],
            behind: EntitleCommand.closedOutput + "; trap '' PIPE"
        )
        #expect(ended.code == -SIGPIPE && ended.errors.isEmpty, "\(ended)")
    }

    // It is ended when it says where it listens: what is set was taken by then.
    @Test(arguments: [["serve", "--ephemeral"], ["demo", "--customers", "1"]])
    func `leaves no ledger of its own, and took no place of the operator's`(
        _ words: [String]
    ) async throws {
        try await withScratchDirectory { folder in
            let (archive, published) = (folder + "/archive", folder + "/published")
            let ended = try await EntitleCommand.run(
                words + ["--port", "0", "--json"],
                environment: [
                    "TMPDIR": folder, "ENTITLE_ARCHIVE": archive, "ENTITLE_PUBLISH": published,
                ],
                behind: EntitleCommand.closedOutput
            )
            #expect(ended.code == -SIGPIPE, "\(ended)")
            #expect(try Self.ledgers(in: folder) == [])
            for place in [archive, published] {
                #expect(!FileManager.default.fileExists(atPath: place), "\(place)")
            }
        }
    }

    // The made-up App Store is trusted in the place of those that are set.
    @Test func `asked no store of the operator's for a made-up one's customers`() async throws {
        try await withScratchDirectory { folder in
            func ended(_ words: [String]) async throws -> EntitleCommand.Outcome {
                try await EntitleCommand.run(
                    words + ["--port", "0", "--json"],
                    environment: ["TMPDIR": folder, "ENTITLE_STORES": folder + "/none"],
                    behind: EntitleCommand.closedOutput
                )
            }
            let demo = try await ended(["demo", "--customers", "1"])
            #expect(demo.code == -SIGPIPE, "\(demo)")
            // The control: who serves without one is told that there is no such file.
            let served = try await ended(["serve", "--ephemeral"])
            #expect(served.code == 78, "\(served)")
        }
    }

    @Test(.timeLimit(.minutes(60)))
    func `while it makes its year leaves no ledger of its own`() async throws {
        try await withScratchDirectory { folder in
            let process = Process()
            process.executableURL = URL(filePath: try #require(EntitleCommand.executable))
            process.arguments = ["demo", "--customers", "500", "--json"]
            process.currentDirectoryURL = URL(filePath: folder)
            process.environment = ["PATH": "/usr/bin:/bin", "NO_COLOR": "1", "TMPDIR": folder]
            process.standardInput = FileHandle.nullDevice
            process.standardOutput = FileHandle.nullDevice
            process.standardError = FileHandle.nullDevice
            try Forking.lock.withLock { _ in try process.run() }
            defer { if process.isRunning { kill(process.processIdentifier, SIGKILL) } }
            for _ in 0..<6000 where try Self.ledgers(in: folder).isEmpty {
                try await Task.sleep(for: .milliseconds(10))
            }
            // It listens for the signal by then, and signs and verifies for seconds yet.
            try await Task.sleep(for: .milliseconds(100))
            process.interrupt()
            while process.isRunning { try await Task.sleep(for: .milliseconds(10)) }
            #expect(process.terminationReason == .exit)
            // 0 where this machine was so slow to send it that the year was made.
            #expect([130, 0].contains(process.terminationStatus))
            #expect(try Self.ledgers(in: folder) == [])
        }
    }
}
