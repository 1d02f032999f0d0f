import Encodings
package import EntitlementLedger
import EventLog
package import Foundation
import Glibc
import LMDBStorage
package import LedgerAPI

/// Audits in a process of its own: a damaged file may end its reader, and somebody must be left to
/// say so.
package struct AuditChild: Sendable {
    /// The command that audits: `entitle`, or what answers `audit --in-process` as it does.
    private let program: String

    /// What the child answered.
    package struct Outcome {
        /// Its standard output; empty if it died or could not open the ledger.
        package var output: Data
        /// Its exit code; nil if a signal or a trap ended it.
        package var code: Int32?

        /// Whether it found the ledger damaged, or died of it.
        package var isDamaged: Bool { code == nil || code == ExitStatus.integrity.rawValue }

        /// What a child that printed JSON found; nil: it did not live to print it.
        package var answer: AuditAnswer? {
            // What is no answer says as little as what is not there.
            try? AuditAnswer.fields.read(JSONValue(parsing: Array(output)))
        }

        /// The same, or what stands for a report where it died of damage; nil: it could not open the ledger.
        fileprivate var report: AuditAnswer? {
            if let answer { return answer }
            return isDamaged ? .unreadable : nil
        }
    }

    /// `program`: where the command stands.
    package init(program: String) { self.program = program }

    /// Runs `entitle audit` with these arguments and waits for its end.
    ///
    /// `key`: the master key, which goes over by a pipe: variables can be read by others of this
    /// user, and are handed on. nil: it needs none.
    ///
    /// `note`: the checkpoint that the log is held against, which goes the same way: what this process was
    /// lent, a pipe say, the other one does not have. nil: there is none.
    ///
    /// `isHeard`: whether its standard error is ours; else nobody sees it. `isEnded`: whether nobody wants to
    /// know any more.
    ///
    /// - Throws: `OperationFault` for a note that is too long to be handed over; `CancellationError` where
    ///   nobody wants to know.
    package func run(
        _ arguments: [String],
        key: [UInt8]?,
        note: String? = nil,
        isHeard: Bool,
        isEnded: () -> Bool = { false }
    ) throws -> Outcome {
        var lines = (key.map(Hexadecimal.encode) ?? "") + "\n"
        // A text of several lines is one as JSON.
        if let note { lines += JSONValue.string(note).description + "\n" }
        guard lines.utf8.count <= Self.handedByteLimit else {
            throw OperationFault(.tooLarge, "the checkpoint is too long", place: "--against")
        }
        let output = Pipe()
        // It ends with us: the other end of its input closes then.
        let input = Pipe()
        try input.fileHandleForWriting.write(contentsOf: Data(lines.utf8))
        let process = try SpawnedProcess(
            program,
            ["audit", "--in-process"] + arguments,
            environment: SpawnedProcess.ownEnvironment,
            descriptors: [
                input.fileHandleForReading.fileDescriptor,
                output.fileHandleForWriting.fileDescriptor, isHeard ? STDERR_FILENO : nil,
            ]
        )
        try input.fileHandleForReading.close()
        try output.fileHandleForWriting.close()
        let data = try Self.all(of: output.fileHandleForReading, isEnded)
        // It ends at once where it is not read to its end.
        if data == nil { try input.fileHandleForWriting.close() }
        let end = try process.end()
        guard let data else { throw CancellationError() }
        try input.fileHandleForWriting.close()
        guard case .exited(let code) = end, code != ExitStatus.internal.rawValue else {
            return Outcome(output: data, code: nil)
        }
        return Outcome(output: data, code: code)
    }

    /// What a pipe holds that nobody reads yet (pipe(7)).
    private static let handedByteLimit = 64 << 10
    private static let chunkByteCount = 64 << 10

    /// All that a child prints; nil: nobody wants to know any more.
    private static func all(of output: FileHandle, _ isEnded: () -> Bool) throws -> Data? {
        var data = Data()
        while true {
            if isEnded() { return nil }
            guard try output.hasInput() else { continue }
            let chunk = try output.read(upToCount: chunkByteCount) ?? Data()
            if chunk.isEmpty { return data }
            data += chunk
        }
    }

    /// The report on a ledger; one for a child that did not live to make it.
    package func report(
        on path: String,
        masterKey: [UInt8],
        _ scope: AuditScope,
        isBehind: Bool = false,
        isEnded: () -> Bool = { false }
    ) throws -> AuditAnswer {
        let words: [AuditScope: [String]] = [.quick: ["--quick"], .hashes: ["--hashes"]]
        let outcome = try run(
            ["--json", "--ledger", path] + (words[scope] ?? []) + (isBehind ? ["--behind"] : []),
            key: masterKey,
            isHeard: false,
            isEnded: isEnded
        )
        guard let report = outcome.report else {
            throw LogStorageFault(.unreadable, "the audit could not be run")
        }
        return report
    }

    /// The report on a cluster's copy, by its hashes; nil: it lacks a file, so that it cannot be opened.
    ///
    /// Where the master key does not open it, its log alone is audited: whether the key is a wrong one, or an earlier
    /// one wraps the copy, is told by the cluster's keys.
    package func report(onCopy path: String, masterKey: [UInt8]) throws -> AuditAnswer? {
        let arguments = ["--json", "--ledger", path, "--hashes"]
        var outcome = try run(arguments, key: masterKey, isHeard: false)
        if outcome.code == ExitStatus.misconfigured.rawValue {
            outcome = try run(arguments + ["--without-key"], key: nil, isHeard: false)
        }
        return outcome.report
    }

    /// Audits quickly where the last writer was ended from outside.
    ///
    /// Costs one look for a file where it closed properly, or still runs. Damaged views do not
    /// count: who opens the ledger discards them.
    ///
    /// - Throws: `OperationFault` if the log or the vault is damaged.
    package func requireSoundAfterStop(_ path: String, key: [UInt8]) throws {
        guard LedgerDirectory.wasLeftUnclean(at: path) else { return }
        let outcome = try run(["--quick", "--json", "--ledger", path], key: key, isHeard: false)
        guard outcome.isDamaged else { return }
        if let faults = outcome.answer?.faults, faults.allSatisfy({ $0.kind == .view }) { return }
        throw OperationFault(
            .damaged,
            "the last command that wrote found damage, or was stopped, and a quick audit finds "
                + "the ledger damaged",
            place: path,
            hint: "run `entitle audit` to see what is damaged"
        )
    }
}
