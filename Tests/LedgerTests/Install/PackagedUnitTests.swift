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
        func read(_ name: String) throws -> [(key: String, value: String)] {
            try Self.text(name).split(separator: "\n").filter { !$0.hasPrefix("#") }
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

    /// What a file says that is shipped.
    static func text(_ name: String) throws -> String {
        let package = URL(filePath: #filePath).deletingLastPathComponent().appending(
            path: "../../../tools/package.d/"
        )
        return try String(contentsOf: package.appending(path: name), encoding: .utf8)
    }

    /// The values of a key, in their order.
    func values(_ key: String) -> [String] { lines.filter { $0.key == key }.map(\.value) }

    /// Variables as they are shipped, with a folder for `/var/lib/entitle`, and a port that no other test has.
    static func environment(_ variables: [String], in folder: String) -> [String: String] {
        var environment = ["PATH": "/usr/bin:/bin", "ENTITLE_PORT": "0"]
        for value in variables {
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
        process.environment = Self.environment(values("Environment"), in: folder)
        process.currentDirectoryURL = URL(filePath: folder)
        return process
    }

    /// Makes the process that serves.
    func server() throws -> Process {
        try process(of: try #require(values("ExecStart").first), ["--json"])
    }
}

/// The container of the Debian package, as it is shipped: what it runs makes a ledger and serves it.
private enum PackagedContainer {
    /// Makes the process that a container is, with the command that was built on its path.
    static func server(in folder: String) throws -> Process {
        let lines = try PackagedUnit.text("Containerfile").split(separator: "\n")
        func values(_ key: String) -> [String] {
            lines.filter { $0.hasPrefix(key + " ") }.map { String($0.dropFirst(key.count + 1)) }
        }
        let text = try #require(values("CMD").last)
        let words = try #require(JSONValue(parsing: Array(text.utf8)).array)
            .compactMap(\.string)
        let variables = values("ENV").flatMap { $0.split(separator: " ").map(String.init) }
        var environment = PackagedUnit.environment(variables, in: folder)
        let command = URL(filePath: try #require(EntitleCommand.executable))
        environment["PATH"] = command.deletingLastPathComponent().path + ":/usr/bin:/bin"
        let process = Process()
        process.executableURL = URL(filePath: try #require(words.first))
        process.arguments = Array(words.dropFirst())
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

    /// Lets a process serve while a body runs, if it comes to listen; returns how it ended.
    private static func serve(
        _ process: Process,
        _ body: () async throws -> Void
    ) async throws -> Int32 {
        let output = Pipe()
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try Forking.lock.withLock { _ in try process.run() }
        // What it says until it listens, or its end.
        var said = ""
        while !said.contains("listening") {
            let more = output.fileHandleForReading.availableData
            if more.isEmpty { break }
            said += String(decoding: more, as: UTF8.self)
        }
        if said.contains("listening") { try await body() }
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
                let code = try await Self.serve(unit.server()) {
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

    // row Z20: a container runs the same server, by a command of its own.
    @Test func `is what its container does at once`() async throws {
        try await withScratchDirectory { folder in
            let ledger = CommandLedger(folder: folder)
            for start in 1...2 {
                var isServed = false
                let code = try await Self.serve(PackagedContainer.server(in: folder)) {
                    isServed = true
                    let given = try await ledger.run([
                        "grant", "ann", "--feature", "export", "--id", "g\(start)",
                    ])
                    #expect(given.code == 0, "\(given)")
                }
                #expect(isServed && code == 0)
            }
            // The second start has made no other.
            let status = try await ledger.run(["status"])
            #expect((status.json?["sequence"]?.integer ?? 0) >= 2, "\(status)")
        }
    }

    // row Z20; the control: it is the unit's own first line that makes the ledger.
    @Test func `serves nothing where nobody made a ledger`() async throws {
        try await withScratchDirectory { folder in
            let code = try await Self.serve(PackagedUnit(in: folder).server()) {
                Issue.record("a ledger that there is not is served")
            }
            #expect(code == 66)
        }
    }
}
