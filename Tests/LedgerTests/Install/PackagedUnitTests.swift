import Encodings
import Foundation
import Synchronization
import Testing

/// The systemd unit of the Debian package, as it is shipped: its lines are what starts a server.
private struct PackagedUnit {
    private let lines: [(key: String, value: String)]
    /// What stands for `/var/lib/entitle`.
    private let folder: String

    /// The command that the package installs.
    private static let installed = "/usr/bin/entitle"

    init(in folder: String) throws {
        self.folder = folder
        let package = URL(filePath: #filePath).deletingLastPathComponent().appending(
            path: "../../../tools/package.d/"
        )
        func read(_ name: String) throws -> [(key: String, value: String)] {
            try String(contentsOf: package.appending(path: name), encoding: .utf8)
                .split(separator: "\n").filter { !$0.hasPrefix("#") }
                .compactMap { line -> (key: String, value: String)? in
                    let sides = line.split(separator: "=", maxSplits: 1)
                    guard sides.count == 2 else { return nil }
                    return (key: String(sides[0]), value: String(sides[1]))
                }
        }
        // A file of settings that sets nothing is what an operator gets.
        lines =
            try read("entitle.service")
            + read("environment").map { line in
                (key: "Environment", value: "\(line.key)=\(line.value)")
            }
    }

    /// The values of a key, in their order.
    func values(_ key: String) -> [String] { lines.filter { $0.key == key }.map(\.value) }

    /// The unit's variables, and a port that no other test has.
    private var environment: [String: String] {
        var environment = ["PATH": "/usr/bin:/bin", "ENTITLE_PORT": "0"]
        for value in values("Environment") {
            let sides = value.split(separator: "=", maxSplits: 1).map(String.init)
            environment[sides[0]] = sides[1].replacing("/var/lib/entitle", with: folder)
        }
        return environment
    }

    /// Makes a process of a line, with the command that was built in the place of the installed one.
    func process(of line: String, _ more: [String] = []) throws -> Process {
        let command = try #require(EntitleCommand.executable)
        let process = Process()
        // The shell splits a line as systemd does, and whoever is told to end is the command itself.
        process.executableURL = URL(filePath: "/bin/sh")
        let words = (["exec", line] + more).joined(separator: " ")
        process.arguments = ["-c", words.replacing(Self.installed, with: command)]
        process.environment = environment
        process.currentDirectoryURL = URL(filePath: folder)
        return process
    }
}

@Suite(.enabled(if: EntitleCommand.isPresent, EntitleCommand.absence))
struct `The package's unit` {
    private static func run(_ process: Process) throws -> Int32 {
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try Forking.lock.withLock { _ in try process.run() }
        process.waitUntilExit()
        return process.terminationStatus
    }

    /// Serves as the unit does while a body runs; nil: the server ended before it listened.
    private static func serve(
        _ unit: PackagedUnit,
        _ body: () async throws -> Void
    ) async throws -> Int32 {
        let start = try #require(unit.values("ExecStart").first)
        let process = try unit.process(of: start, ["--json"])
        let output = Pipe()
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try Forking.lock.withLock { _ in try process.run() }
        // The first line, or its end.
        let first = output.fileHandleForReading.availableData
        if String(decoding: first, as: UTF8.self).contains("listening") { try await body() }
        process.terminate()
        process.waitUntilExit()
        return process.terminationStatus
    }

    // row Z20: one command to a server with data in it, with what is shipped and nothing else.
    @Test func `makes a ledger at its first start, serves it, and keeps it`() async throws {
        try await withScratchDirectory { folder in
            let unit = try PackagedUnit(in: folder)
            let before = unit.values("ExecStartPre")
            #expect(unit.values("ExecStart").count == 1 && before.count == 1)
            let ledger = CommandLedger(folder: folder)
            for start in 1...2 {
                for line in before { #expect(try Self.run(unit.process(of: line)) == 0) }
                var isServed = false
                let code = try await Self.serve(unit) {
                    isServed = true
                    // The server holds the ledger: the command asks it.
                    let given = try await ledger.run([
                        "grant", "ann", "--feature", "export", "--id", "g\(start)",
                    ])
                    #expect(given.code == 0, "\(given)")
                    let shown = try await ledger.run(["show", "ann"])
                    #expect(shown.code == 0 && shown.output.contains("export"), "\(shown)")
                }
                #expect(isServed && code == 0)
            }
            let status = try await ledger.run(["status"])
            #expect((status.json?["sequence"]?.integer ?? 0) >= 2, "\(status)")
        }
    }

    // row Z20; the control: it is the unit's own first line that makes the ledger.
    @Test func `serves nothing where nobody made a ledger`() async throws {
        try await withScratchDirectory { folder in
            let code = try await Self.serve(PackagedUnit(in: folder)) {
                Issue.record("a ledger that there is not is served")
            }
            #expect(code == 66)
        }
    }
}
