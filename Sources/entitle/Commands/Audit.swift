import ArgumentParser
import EntitlementLedger
import Entitlements
import EventLog

/// The command `entitle audit`.
struct Audit: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Checks everything against its hashes and views: exit 3 on a fault.",
        discussion: """
            Reads in a process of its own, so that a damaged file cannot end it without a report.
            """
    )

    @OptionGroup var options: LedgerOptions
    @Flag(help: "Only the log's last records, its end, last checkpoints and the views' position.")
    var quick = false
    @Flag(help: "Only the log's hashes, order, end and checkpoints: no keys, no views.")
    var hashes = false
    @Option(help: "A checkpoint that somebody noted down: proves that the log extends it.")
    var against: String?
    @Flag(help: .hidden) var inProcess = false

    private var scope: AuditScope { quick ? .quick : hashes ? .hashes : .everything }

    func validate() throws {
        if quick && hashes { throw ValidationError("--quick and --hashes exclude each other") }
    }

    func run() throws {
        guard inProcess else { return try runInChild() }
        AuditChild.endWithParent()
        let progress = Progress("audited")
        let report = try options.withLedger(writing: false, isCheck: true) { ledger in
            let older = try against.map { try ProofFile.text($0) }
            var report = try ledger.audit(scope) { progress.show($0, of: $1) }
            if let older, let fault = try ledger.fault(against: older) {
                report.faults.append(fault)
            }
            return report
        }
        progress.finish()
        if options.json {
            Terminal.line(report.json)
        } else {
            for fault in report.faults {
                let place = fault.sequence.map { " \($0)" } ?? ""
                Terminal.line("\(fault.kind.rawValue)\(place): \(fault.detail)")
            }
            Terminal.line(
                "\(report.isOK ? "sound" : "DAMAGED"): \(report.records) records, root "
                    + "\(report.rootHash), \(report.checkpoints) checkpoints, "
                    + "\(report.faults.count) faults"
            )
        }
        if !report.isOK { throw ExitCode.integrity }
    }

    /// Passes on what the child says; says it for one that could not.
    private func runInChild() throws {
        // The program's name and `audit` come first.
        let outcome = try AuditChild.run(Array(CommandLine.arguments.dropFirst(2)), isHeard: true)
        let isDamaged = outcome.code == nil || outcome.code == ExitCode.integrity.rawValue
        guard isDamaged, outcome.output.isEmpty else {
            Terminal.write(String(decoding: outcome.output, as: UTF8.self))
            throw ExitCode(outcome.code ?? ExitCode.integrity.rawValue)
        }
        let detail = "the ledger is damaged so that it cannot be read"
        if options.json {
            Terminal.line(
                .members([
                    "ok": .bool(false), "records": .integer(0), "treeSize": .integer(0),
                    "rootHash": .string(TreeHash.emptyRoot.base64), "checkpoints": .integer(0),
                    "faults": .array([
                        .members([
                            "kind": .string(AuditReport.Kind.record.rawValue), "sequence": .null,
                            "detail": .string(detail),
                        ])
                    ]),
                ])
            )
        } else {
            Terminal.line("DAMAGED: \(detail)")
        }
        throw ExitCode.integrity
    }
}
