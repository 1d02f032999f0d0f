import ArgumentParser
import Encodings
import EntitlementLedger
import Entitlements
import EventLog
import Glibc
import LMDBStorage
import LedgerAPI
import LedgerOperations
import LedgerServer
import Presentation

/// The command `entitle audit`.
struct Audit: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "audit",
        abstract: "Checks everything against its hashes and views: exit 3 on a fault.",
        discussion: HelpText.discussion(
            """
            Reads in a process of its own, so that a damaged file cannot end it without a report.
            """,
            examples: "entitle audit",
            "entitle audit --quick --json"
        )
    )

    @OptionGroup var options: LedgerOptions
    @OptionGroup var server: ServerOptions
    @Flag(help: "Only the log's last records, its end, last checkpoints and the views' position.")
    var quick = false
    @Flag(help: "Only the log's hashes, order, end and checkpoints: no keys, no views.")
    var hashes = false
    @Option(help: "A checkpoint that somebody noted down: proves that the log extends it.")
    var against: String?
    @Flag(help: "Without the master key: --hashes.") var withoutKey = false
    @Option(help: "An archive that is checked too (default: DIR/archive, if it is there).")
    var archive: String?
    @Option(help: "Writes the report as a page to print.") var html: String?
    @Flag(help: .hidden) var inProcess = false
    /// Takes only what others leave of the machine.
    @Flag(help: .hidden) var behind = false

    /// The nicest there is (setpriority(2)): whoever else is ready to run goes first.
    private static let leastPriority: Int32 = 19

    private var scope: AuditScope {
        quick ? .quick : hashes || withoutKey ? .hashes : .everything
    }

    func validate() throws {
        if quick && hashes { throw ValidationError("--quick and --hashes exclude each other") }
        if quick && withoutKey {
            throw ValidationError("--quick opens records: it needs the master key")
        }
    }

    func run() throws {
        if let client = try server.named() { return try ask(client) }
        guard inProcess else { return try runInChild() }
        AuditChild.takeKey()
        let note = against == nil ? nil : AuditChild.takeNote()
        // Threads that begin from here on have it, too.
        if behind { _ = nice(Self.leastPriority) }
        AuditChild.endWithParent()
        let progress = Progress("audited")
        func audit(_ ledger: Ledger) throws -> AuditAnswer {
            let fault = try against.flatMap { file in
                try ProofFile.withCheckpoint(note ?? "", of: file) {
                    try ledger.prover.fault(against: $0)
                }
            }
            var report = try ledger.auditor.audit(scope, archive: archiveStore()) {
                progress.show($0, of: $1)
            }
            if let fault { report.faults.append(fault) }
            return report
        }
        let report =
            withoutKey
            ? try options.withKeylessLedger(audit)
            : try options.withLedger(writing: false, isCheck: true, audit)
        progress.finish()
        try show(report)
    }

    private func show(_ report: AuditAnswer) throws {
        Terminal.tell(AnswerText(report), or: report.textLines, asJSON: options.json)
        try writePage(report)
        if !report.isOK { throw ExitCode(.integrity) }
    }

    /// A server audits with the archive that stands in the ledger's directory.
    private func ask(_ client: ServerClient) throws {
        guard archive == nil else {
            throw OperationFault(
                .usage,
                "a server looks at the archive in the ledger's own directory alone",
                place: "--archive",
                hint: "leave --server away, on the machine of the archive"
            )
        }
        let against = try against.map { [("against", try ProofFile.text($0))] } ?? []
        let call = ServerCall.get(["v1", "audit"], [("scope", "\(scope)")] + against)
        try show(client.answer(call.untilDone, as: AuditAnswer.self))
    }

    private func writePage(_ report: AuditAnswer) throws {
        guard let html else { return }
        try OutputFile.write(AuditPage.html(report, at: SystemClock.now()), to: html)
    }

    /// The archive that was named, or the ledger's own where there is one.
    private func archiveStore() throws -> ArchiveDirectory? {
        if let archive { return try ArchiveDirectory(foundAt: archive) }
        let own = try ArchiveDirectory(
            at: options.path + "/" + ArchiveDirectory.name,
            forWriting: false
        )
        return try own.exists(ArchiveLayout.checkpoint) ? own : nil
    }

    /// Passes on what the child says; says it for one that could not.
    private func runInChild() throws {
        // The program's name and `audit` come first.
        let outcome = try AuditChild.own.run(
            Array(CommandLine.arguments.dropFirst(2)),
            key: withoutKey ? nil : options.keyOptions.read(),
            note: against.map { try ProofFile.text($0) },
            isHeard: true
        )
        guard outcome.isDamaged, outcome.output.isEmpty else {
            Terminal.write(String(decoding: outcome.output, as: UTF8.self))
            throw ExitCode(outcome.code ?? ExitStatus.integrity.rawValue)
        }
        let report = AuditAnswer.unreadable
        if options.json {
            Terminal.line(AnswerText(report))
        } else {
            Terminal.line("DAMAGED: \(report.faults[0].detail)")
            Terminal.line("hint: \(report.faults[0].kind.hint)")
        }
        try writePage(report)
        throw ExitCode(.integrity)
    }
}
