import ArgumentParser
import Encodings
import EntitlementLedger
import Entitlements
import EventLog
import Foundation
import Glibc
import LMDBStorage
import LedgerAPI

/// Audits in a process of its own: a damaged file may end its reader, and somebody must be left to
/// say so.
enum AuditChild {
    /// What the child answered.
    struct Outcome {
        /// Its standard output; empty if it died or could not open the ledger.
        var output: Data
        /// Its exit code; nil if a signal or a trap ended it.
        var code: Int32?
    }

    /// Runs `entitle audit` with these arguments and waits for its end.
    ///
    /// `key`: the master key, which goes over by a pipe: variables can be read by others of this
    /// user, and are handed on. nil: it needs none.
    ///
    /// `isHeard`: whether its standard error is ours; else nobody sees it.
    static func run(
        _ arguments: [String],
        key: [UInt8]?,
        isHeard: Bool
    ) throws -> Outcome {
        let process = Process()
        process.executableURL = URL(filePath: "/proc/self/exe")
        process.arguments = ["audit", "--in-process"] + arguments
        let output = Pipe()
        process.standardOutput = output
        // It ends with us: the other end of its input closes then.
        let input = Pipe()
        try input.fileHandleForWriting.write(
            contentsOf: Data((key.map(Hexadecimal.encode) ?? "").utf8 + [0x0A])
        )
        process.standardInput = input
        if !isHeard { process.standardError = FileHandle.nullDevice }
        try process.run()
        let data = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        let isExit =
            process.terminationReason == .exit
            && process.terminationStatus != ExitCode.internal.rawValue
        return Outcome(output: data, code: isExit ? process.terminationStatus : nil)
    }

    /// The report on a ledger; one for a child that did not live to make it.
    static func report(
        on path: String,
        masterKey: [UInt8],
        _ scope: AuditScope,
        isBehind: Bool = false
    ) throws -> AuditAnswer {
        let words: [AuditScope: [String]] = [.quick: ["--quick"], .hashes: ["--hashes"]]
        let outcome = try run(
            ["--json", "--ledger", path] + (words[scope] ?? []) + (isBehind ? ["--behind"] : []),
            key: masterKey,
            isHeard: false
        )
        if let answer = answer(in: outcome) { return answer }
        guard outcome.code == nil || outcome.code == ExitCode.integrity.rawValue else {
            throw LogStorageFault(.unreadable, "the audit could not be run")
        }
        return .unreadable
    }

    /// What a child that printed JSON found; nil: it did not live to print it.
    static func answer(in outcome: Outcome) -> AuditAnswer? {
        // What is no answer says as little as what is not there.
        try? AuditAnswer.fields.read(JSONValue(parsing: Array(outcome.output)))
    }

    /// Takes the key that the other process hands over; for the child.
    static func takeKey() {
        guard let line = readLine(), !line.isEmpty else { return }
        Settings.current.passedKey = line
    }

    /// Ends this process when the one that started it is gone; for the child.
    static func endWithParent() {
        Thread.detachNewThread {
            _ = try? FileHandle.standardInput.readToEnd()
            Glibc.exit(ExitCode.interrupted.rawValue)
        }
    }
}

/// What stands in the way after a writer that ended without closing.
enum UncleanStop {
    /// Audits quickly in a child where the last writer was ended from outside.
    ///
    /// Costs one look for a file where it closed properly, or still runs. Damaged views do not
    /// count: who opens the ledger discards them.
    /// - Throws: `CommandFailure` if the log or the vault is damaged.
    static func check(_ path: String, key: [UInt8]) throws {
        guard LedgerDirectory.wasLeftUnclean(at: path) else { return }
        let outcome = try AuditChild.run(
            ["--quick", "--json", "--ledger", path],
            key: key,
            isHeard: false
        )
        guard outcome.code == nil || outcome.code == ExitCode.integrity.rawValue else { return }
        if let faults = AuditChild.answer(in: outcome)?.faults,
            faults.allSatisfy({ $0.kind == .view })
        {
            return
        }
        throw CommandFailure(
            .integrity,
            "damaged",
            "the last writer was stopped, and a quick audit finds the ledger damaged",
            place: path,
            hint: "run `entitle audit` to see what is damaged"
        )
    }
}
