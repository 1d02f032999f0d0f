import Encodings
import Entitlements
import Foundation
import Glibc
import Synchronization
import Testing

/// Nobody learns the master key from a process that the command starts, or from its memory.
@Suite(.enabled(if: EntitleCommand.isPresent, EntitleCommand.absence))
struct `The command's secrets` {
    private static let setpriv = "/usr/bin/setpriv"

    @Test func `are in no variable of what it starts`() async throws {
        try await CommandLedger.with { ledger in
            let digits = try String(contentsOfFile: ledger.path + "/key", encoding: .utf8)
                .trimmingCharacters(in: .newlines)
            let seen = ledger.folder + "/seen"
            let given = try await ledger.run(
                ["show", "ann", "--key-command", "env > '\(seen)'; cat '\(ledger.path)/key'"],
                environment: ["ENTITLE_KEY": digits, "ENTITLE_CONTROL": "handed on"]
            )
            #expect(given.code == 0, "\(given.errors)")
            let variables = try String(contentsOfFile: seen, encoding: .utf8)
            #expect(!variables.contains(digits) && !variables.contains("ENTITLE_KEY"))
            // The control
            #expect(variables.contains("ENTITLE_CONTROL=handed on"))
        }
    }

    // An audit whose page goes into a pipe that nobody reads waits, and can be looked at.
    @Test func `go to the audit's own process by a pipe`() async throws {
        try await CommandLedger.with { ledger in
            let digits = try String(contentsOfFile: ledger.path + "/key", encoding: .utf8)
                .trimmingCharacters(in: .newlines)
            let pipe = ledger.folder + "/pipe"
            #expect(unsafe mkfifo(pipe, 0o600) == 0)
            async let audited = ledger.run(
                ["audit", "--html", pipe],
                environment: ["ENTITLE_KEY": digits, "ENTITLE_CONTROL": "handed on"]
            )
            let child = try await Self.process { $0.contains(pipe) && $0.contains("--in-process") }
            let variables = Self.text("/proc/\(child)/environ")
            let words = Self.text("/proc/\(child)/cmdline")
            let limits = Self.text("/proc/\(child)/limits")
            #expect(Self.text(pipe).contains("Ledger audit"))
            let outcome = try await audited
            #expect(outcome.code == 0, "\(outcome)")
            #expect(!words.contains(digits))
            let core = limits.split(separator: "\n").first { $0.hasPrefix("Max core file size") }
            #expect(core?.split(separator: " ").dropFirst(4).prefix(2) == ["0", "0"])
            // Unless root asks, the system tells nobody.
            guard geteuid() == 0 else { return }
            #expect(!variables.contains(digits) && !variables.contains("ENTITLE_KEY"))
            #expect(variables.contains("ENTITLE_CONTROL=handed on"))
        }
    }

    // proc(5): what can be read of a process is its user's only while its memory may be dumped.
    @Test(
        .enabled(
            if: geteuid() != 0 || FileManager.default.isExecutableFile(atPath: setpriv),
            "root needs setpriv (util-linux) to be somebody else"
        )
    )
    func `are in a memory that is closed to its user's other processes`() async throws {
        // Where a user who is not this one may run it: a checkout may be closed to others.
        let folder = "/tmp/entitle-\(UUID().uuidString)"
        try FileManager.default.createDirectory(
            atPath: folder,
            withIntermediateDirectories: false,
            attributes: [.posixPermissions: 0o755]
        )
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let executable = folder + "/entitle"
        try FileManager.default.copyItem(
            atPath: try #require(EntitleCommand.executable),
            toPath: executable
        )
        // Waits for a key on its standard input.
        let command = [executable, "audit", "--in-process"]
        let other = ["/bin/sleep", "3600"]
        let user = geteuid() == 0 ? 65_534 : geteuid()
        let drop =
            geteuid() == 0
            ? [Self.setpriv, "--reuid", "\(user)", "--regid", "\(user)", "--clear-groups"] : []
        for (words, owner) in [(command, 0), (other, user)] {
            let process = Process()
            process.executableURL = URL(filePath: (drop + words)[0])
            process.arguments = Array((drop + words).dropFirst())
            process.standardInput = Pipe()
            process.standardOutput = FileHandle.nullDevice
            process.standardError = FileHandle.nullDevice
            try Forking.lock.withLock { _ in try process.run() }
            defer { process.terminate() }
            let file = "/proc/\(process.processIdentifier)/environ"
            var found: Int?
            for _ in 0..<3000 where found != Int(owner) {
                try await Task.sleep(for: .milliseconds(10))
                let isRunning = Self.text("/proc/\(process.processIdentifier)/cmdline")
                    .hasPrefix(words[0])
                guard isRunning else { continue }
                let attributes = try? FileManager.default.attributesOfItem(atPath: file)
                found = attributes?[.ownerAccountID] as? Int
            }
            #expect(found == Int(owner), "\(words)")
        }
    }

    /// The number of the process whose command line is asked for, once it runs.
    private static func process(_ isMeant: (String) -> Bool) async throws -> Int {
        for _ in 0..<1000 {
            let numbers = try FileManager.default.contentsOfDirectory(atPath: "/proc").compactMap(
                Int.init
            )
            if let found = numbers.first(where: { isMeant(text("/proc/\($0)/cmdline")) }) {
                return found
            }
            try await Task.sleep(for: .milliseconds(10))
        }
        throw POSIXError(.ESRCH)
    }

    private static func text(_ file: String) -> String {
        let handle = FileHandle(forReadingAtPath: file)
        return String(decoding: (try? handle?.readToEnd()) ?? Data(), as: UTF8.self)
    }
}
