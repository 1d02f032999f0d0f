import Encodings
import Entitlements
import Foundation
import Synchronization
import Testing

/// The built command, run as a process of its own.
enum EntitleCommand {
    /// Why tests of the command are skipped.
    static let absence: Comment =
        "there is no product `entitle` beside the tests or in .build, or none that is sanitized"

    /// Beside the test bundle, or in the package's build directory.
    static let executable: String? = {
        var candidates: [URL] = []
        if let test = Bundle.main.executableURL {
            candidates.append(test.deletingLastPathComponent())
        }
        candidates.append(
            URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent()
        )
        var folder = URL(filePath: #filePath)
        while folder.path != "/" {
            folder = folder.deletingLastPathComponent()
            candidates.append(folder.appending(path: ".build/debug"))
        }
        return candidates.map { $0.appending(path: "entitle").path }
            .first { FileManager.default.isExecutableFile(atPath: $0) }
    }()

    /// A sanitized build is of everything below the command (Package.swift).
    static var isPresent: Bool {
        executable != nil && ProcessInfo.processInfo.environment["ENTITLE_CORE"] == nil
    }

    /// What one run came to.
    struct Outcome {
        /// The exit code, or the signal's number negated.
        var code: Int32
        var output: String
        var errors: String

        /// Standard output as one JSON document.
        var json: JSONValue? { try? JSONValue(parsing: Array(output.utf8)) }
        /// Each line of standard output as JSON.
        var lines: [JSONValue] {
            output.split(separator: "\n").compactMap { try? JSONValue(parsing: Array($0.utf8)) }
        }
        /// The problem object on standard error.
        var problem: JSONValue? {
            errors.split(separator: "\n").lazy
                .compactMap { try? JSONValue(parsing: Array($0.utf8)) }.first { $0["code"] != nil }
        }
        /// The problem's `code`.
        var problemCode: String? { problem?["code"]?.string }
    }

    /// What a shell does for standard output to be a pipe whose reader is gone.
    static let closedOutput = "mkfifo pipe; true < pipe & exec > pipe; wait"

    /// Runs the command to its end.
    ///
    /// `input`: standard input; without it there is none.
    ///
    /// `environment`: added to a small fixed one, in which nothing names a ledger.
    ///
    /// `shell`: what a shell does before, such as `exec 2>&-`, which closes a stream; nil: there is none.
    static func run(
        _ arguments: [String],
        input: [UInt8] = [],
        environment: [String: String] = [:],
        behind shell: String? = nil
    ) async throws -> Outcome {
        try await withScratchDirectory { folder in
            let files = ["in", "out", "err"].map { folder + "/" + $0 }
            try Data(input).write(to: URL(filePath: files[0]))
            for file in files[1...] { try Data().write(to: URL(filePath: file)) }
            let executable = try #require(executable)
            let script = shell.map { ["-c", "\($0); exec \"$0\" \"$@\"", executable] }
            let command = SpawnedCommand(
                path: script == nil ? executable : "/bin/sh",
                arguments: (script ?? []) + arguments,
                environment: ["PATH": "/usr/bin:/bin", "NO_COLOR": "1"].merging(environment) { $1 },
                folder: folder,
                files: files
            )
            let code = try await command.run()
            func text(_ file: String) throws -> String {
                String(decoding: try Data(contentsOf: URL(filePath: file)), as: UTF8.self)
            }
            return Outcome(code: code, output: try text(files[1]), errors: try text(files[2]))
        }
    }
}
