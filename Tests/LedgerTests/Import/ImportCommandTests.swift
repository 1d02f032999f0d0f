import Encodings
import Foundation
import Glibc
import Synchronization
import Testing

/// An import by the command that waits for somebody to read what it says of its first batch.
private struct WaitingImport {
    let ledger: CommandLedger
    let process: Process
    /// Its standard output.
    let output: FileHandle
    /// The file that its standard error is.
    private let errors: String

    /// One batch, and lines behind it.
    static let lineCount = 4096 + 20

    /// Lends an import that has recorded its first batch: no pipe holds all that it says of it.
    static func with(_ body: (WaitingImport) async throws -> Void) async throws {
        try await CommandLedger.with { ledger in
            let lines = (0..<lineCount).map {
                Sample.line("u\($0)", "usage.recorded", "customer/u", data: use("u\($0)")) + "\n"
            }
            let waiting = try WaitingImport(
                of: ledger.file("events.ndjson", lines.joined()),
                into: ledger
            )
            defer {
                let process = waiting.process
                if process.isRunning { kill(process.processIdentifier, SIGKILL) }
            }
            try #require(waiting.output.read(upToCount: 1)?.count == 1)
            try await body(waiting)
        }
    }

    private static func use(_ id: String) -> String { #"{"useId":"\#(id)","featureId":"scan"}"# }

    private init(of file: String, into ledger: CommandLedger) throws {
        let (process, output) = (Process(), Pipe())
        errors = ledger.folder + "/errors"
        try Data().write(to: URL(filePath: errors))
        process.executableURL = URL(filePath: try #require(EntitleCommand.executable))
        process.arguments = ["import", file, "--acknowledge", "--ledger", ledger.path]
        process.environment = ["PATH": "/usr/bin:/bin", "NO_COLOR": "1"]
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = output
        process.standardError = try FileHandle(forWritingTo: URL(filePath: errors))
        try Forking.lock.withLock { _ in try process.run() }
        self.ledger = ledger
        self.process = process
        self.output = output.fileHandleForReading
    }

    /// What it has said on standard error, once it has said something; empty: it says nothing.
    func said() async throws -> String {
        try await Self.wait { try Data(contentsOf: URL(filePath: errors)).isEmpty }
        return String(decoding: try Data(contentsOf: URL(filePath: errors)), as: UTF8.self)
    }

    /// Its exit code; nil: it does not end, or a signal ended it.
    func code() async throws -> Int32? {
        try await Self.wait { process.isRunning }
        guard !process.isRunning, process.terminationReason == .exit else { return nil }
        return process.terminationStatus
    }

    /// Gives up in the end, so that a test fails instead of standing still.
    private static func wait(while isWaiting: () throws -> Bool) async throws {
        for _ in 0..<600 where try isWaiting() { try await Task.sleep(for: .milliseconds(100)) }
    }
}

@Suite(.enabled(if: EntitleCommand.isPresent, EntitleCommand.absence))
struct `An interrupted import` {
    private static let acknowledgement =
        "stopping after what is under way; once more stops at once\n"

    // Interfaces, exit codes
    @Test func `says so at once, ends after what is under way, and what it said is recorded`()
        async throws
    {
        try await WaitingImport.with { waiting in
            waiting.process.interrupt()
            #expect(try await waiting.said() == Self.acknowledgement)
            #expect(waiting.process.isRunning, "it says so before it has ended")
            let rest = try waiting.output.readToEnd() ?? Data()
            #expect(try await waiting.code() == 130)
            let lines = String(decoding: rest, as: UTF8.self).split(separator: "\n")
            let said = lines.count { $0.contains(#""outcome":"appended""#) }
            #expect(said == 4096, "the batch that was under way, and nothing behind it")
            // The catalog is the first event.
            let status = try await waiting.ledger.run(["status"])
            #expect(status.json?["sequence"]?.integer == Int64(said + 1), "\(status)")
            let again = try await waiting.ledger.run([
                "import", waiting.ledger.folder + "/events.ndjson",
            ])
            #expect(
                again.json?.counts == ["appended": 20, "duplicate": Int64(said), "refused": 0]
            )
        }
    }

    @Test func `ends at once when it is interrupted once more`() async throws {
        try await WaitingImport.with { waiting in
            waiting.process.interrupt()
            #expect(try await waiting.said() == Self.acknowledgement)
            waiting.process.interrupt()
            // Nobody has read what it waits to say.
            #expect(try await waiting.code() == 130)
            let audit = try await waiting.ledger.run(["audit"])
            #expect(audit.code == 0, "\(audit)")
            #expect(audit.json?["records"]?.integer == 4097)
        }
    }
}

@Suite(.enabled(if: EntitleCommand.isPresent, EntitleCommand.absence))
struct `An import at a terminal` {
    private static let absence: Comment = "no program `script`, or no terminal that it could lend"
    private static let isPresent = { () -> Bool in
        guard let process = try? running("true", to: FileHandle.nullDevice) else { return false }
        process.waitUntilExit()
        return process.terminationStatus == 0
    }()

    /// A command line at a terminal of its own.
    private static func running(_ line: String, to output: Any) throws -> Process {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/script")
        process.arguments = ["-qec", line, "/dev/null"]
        process.environment = ["PATH": "/usr/bin:/bin", "NO_COLOR": "1"]
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try Forking.lock.withLock { _ in try process.run() }
        return process
    }

    // Refused lines take the least time, so that there are many batches.
    @Test(.enabled(if: isPresent, absence))
    func `shows its share, how long it will take and how fast it goes`() async throws {
        try await CommandLedger.with { ledger in
            let count = 500_000
            let file = try ledger.file("x.ndjson", String(repeating: "x\n", count: count))
            let words = [
                try #require(EntitleCommand.executable), "import", file, "--on-error", "skip",
                "--ledger", ledger.path,
            ]
            let output = Pipe()
            let process = try Self.running(words.joined(separator: " "), to: output)
            let data = try output.fileHandleForReading.readToEnd() ?? Data()
            process.waitUntilExit()
            let text = String(decoding: data, as: UTF8.self)
            // Written over: each begins by clearing the line.
            let shown = text.split(separator: "\r\u{1B}[K").compactMap {
                $0.wholeMatch(of: /imported (\d+) \((\d+) %\), (\d+) s left, (\d+) a second/)
            }
            #expect(shown.count > 1, "\(text.prefix(500))")
            let items = shown.compactMap { Int($0.1) }
            let shares = shown.compactMap { Int($0.2) }
            // A batch each, but for the rest.
            #expect(items == items.sorted())
            #expect(items.allSatisfy { $0 % 4096 == 0 || $0 == count })
            #expect(shares == shares.sorted() && shares.allSatisfy { (1...100).contains($0) })
            #expect(shown.allSatisfy { Int($0.3) ?? 0 >= 1 && Int($0.4) ?? 0 > 0 })
            #expect(text.contains("refused \(count); the log has 1 events"))
        }
    }
}
