import Encodings
import Entitlements
import Foundation
import Synchronization
import Testing

/// What becomes of a server that a trap ends, and of what the largest numbers are given to.
@Suite(.enabled(if: EntitleCommand.isPresent, EntitleCommand.absence))
struct `A trap` {
    /// Ends a listening server by a signal; the shell's word for its end, and what it had written.
    private static func ending(
        by signal: String,
        _ words: [String] = [],
        environment: [String: String] = [:]
    ) async throws -> (code: String, errors: String) {
        try await withScratchDirectory { folder in
            let script = """
                "$0" serve --ephemeral --port 0 "$@" > out 2> err & pid=$!
                until grep -q listening out || ! kill -0 $pid; do sleep 0.05; done
                kill -\(signal) $pid
                (sleep 20; kill -KILL $pid) > /dev/null 2>&1 & guard=$!
                wait $pid 2> /dev/null
                echo $?
                kill $guard
                """
            let process = Process()
            process.executableURL = URL(filePath: "/bin/sh")
            process.arguments = ["-c", script, try #require(EntitleCommand.executable)] + words
            process.currentDirectoryURL = URL(filePath: folder)
            process.environment = ["PATH": "/usr/bin:/bin", "TMPDIR": folder]
                .merging(environment) { $1 }
            let output = Pipe()
            process.standardOutput = output
            try Forking.lock.withLock { _ in try process.run() }
            let code = try output.fileHandleForReading.readToEnd() ?? Data()
            process.waitUntilExit()
            let errors = try String(contentsOfFile: folder + "/err", encoding: .utf8)
            return (String(decoding: code, as: UTF8.self).filter { !$0.isNewline }, errors)
        }
    }

    // The runtime's backtracer held the process for 11 s and wrote registers to the log.
    @Test(arguments: ["ILL", "TRAP", "FPE"])
    func `ends the server with a sentence and nothing else`(signal: String) async throws {
        let ended = try await Self.ending(by: signal)
        #expect(ended.code == "70")
        #expect(ended.errors.hasPrefix("error: a fault of the program ended it\nhint: "))
        #expect(ended.errors.split(separator: "\n").count == 2)
    }

    @Test func `is a problem object for programs`() async throws {
        let ended = try await Self.ending(by: "ILL", ["--json"])
        let problem = try JSONValue(parsing: Array(ended.errors.utf8))
        #expect(problem["code"]?.string == "internal")
        #expect(problem["exitCode"]?.integer.map(String.init) == ended.code)
    }

    // The control: the sentence is ours, and the runtime has its way where it is asked for.
    @Test func `is the runtime's where somebody set it up`() async throws {
        let ended = try await Self.ending(
            by: "ILL",
            environment: ["SWIFT_BACKTRACE": "enable=no"]
        )
        #expect(ended.code == "132")
        #expect(ended.errors.isEmpty)
    }

    private static let calls: [(words: String, code: Int32)] = [
        ("tail --limit 1 --after 18446744073709551615", 64),
        ("tail --limit 1 --after 18446744073709551616", 64),
        ("tail --limit=-9223372036854775808", 64), ("events --from 18446744073709551615", 0),
        ("events --from 0 --to 18446744073709551615 --limit 0", 0),
        ("show ann --at -9223372036854775807w", 64), ("show ann --at +9223372036854775807s", 64),
        ("show ann --known-sequence 18446744073709551615", 65),
        ("prove 18446744073709551615", 65),
    ]

    // The first ended the process once.
    @Test(arguments: calls)
    func `is not what the largest number leads to`(words: String, code: Int32) async throws {
        try await CommandLedger.with { ledger in
            let outcome = try await ledger.run(words.split(separator: " ").map(String.init))
            #expect(outcome.code == code, "\(words): \(outcome)")
        }
    }
}
