import ArgumentParser
import Encodings
import EntitlementLedger
import Entitlements
import EventLog
import Foundation
import LMDBStorage
import LedgerAPI
import LedgerOperations

/// The command `entitle archive`.
struct Archive: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "archive",
        abstract: "Writes the log as static files that other people's programs can check.",
        discussion: HelpText.discussion(
            """
            A directory in the form of C2SP tlog-tiles: a second copy of every event, sealed as in \
            the log, up to a signed checkpoint. Run again, it goes on from where it is. Copying its \
            files is a backup of the log.
            """,
            examples: "entitle archive --to archive"
        )
    )

    @OptionGroup var options: LedgerOptions
    @Option(help: "The archive's directory (default: $ENTITLE_ARCHIVE, else LEDGER/archive).")
    var to: String?
    @Flag(help: "Checks every file that is there, and writes nothing: exit 3 on a fault.")
    var check = false

    private var place: String {
        to ?? Invocation.current.settings[.archive] ?? options.path + "/" + ArchiveDirectory.name
    }

    func run() throws {
        if check { return try checkFiles() }
        let progress = Progress("archived")
        let result = try options.withCheckpointed { open in
            let result = try open.ledger.archiver.archive(
                to: OperationFault.naming(place) {
                    try ArchiveDirectory(at: place, forWriting: true)
                },
                manifest: LedgerDirectory.manifestBytes(at: options.path),
                progress: { progress.show($0, of: $1) }
            )
            try open.ledger.prover.requireExtendsPublished()
            return result
        }
        progress.finish()
        if options.json {
            Terminal.line(
                .members([
                    "archive": .string(place), "archived": .integer(result.archived),
                    "sequence": .integer(result.size),
                ])
            )
        } else {
            let behind = result.size - result.archived
            let rest = behind == 0 ? "" : "; \(behind) events wait for the next checkpoint"
            Terminal.line("archived \(result.archived) events in \(place)" + rest)
        }
    }

    private func checkFiles() throws {
        let progress = Progress("checked")
        let audit = try options.withLedger(writing: false) { ledger in
            try ledger.archiver.audit(ArchiveDirectory(foundAt: place)) {
                progress.show($0, of: $1)
            }
        }
        progress.finish()
        ArchiveText.show(audit, json: options.json)
        if !audit.findings.isEmpty { throw ExitCode(.integrity) }
    }
}

extension ArchiveDirectory {
    /// Opens a directory that is there, to be read.
    ///
    /// - Throws: `OperationFault.noSource` where there is none.
    convenience init(foundAt place: String) throws {
        guard FileManager.default.fileExists(atPath: place) else {
            throw OperationFault(
                .noSource,
                "there is no archive",
                place: place,
                hint: "give the directory that `entitle archive` wrote"
            )
        }
        try self.init(at: place, forWriting: false)
    }
}

/// What the check of an archive says.
enum ArchiveText {
    static func show(_ audit: ArchiveAudit, json: Bool) {
        guard json else {
            for finding in audit.findings {
                let place = finding.sequence.map { " \($0)" } ?? ""
                Terminal.line("archive\(place): \(finding.detail)")
            }
            Terminal.line(
                "\(audit.findings.isEmpty ? "sound" : "DAMAGED"): \(audit.size) events archived, "
                    + "\(audit.checkpoints) checkpoints, \(audit.findings.count) faults"
            )
            return
        }
        Terminal.line(
            .members([
                "ok": .bool(audit.findings.isEmpty), "records": .integer(audit.size),
                "checkpoints": .integer(audit.checkpoints),
                "faults": .array(
                    audit.findings.map {
                        .members([
                            "kind": .string(AuditFault.Kind.archive.rawValue),
                            "sequence": $0.sequence.map { .integer($0) } ?? .null,
                            "detail": .string($0.detail),
                        ])
                    }
                ),
            ])
        )
    }
}
