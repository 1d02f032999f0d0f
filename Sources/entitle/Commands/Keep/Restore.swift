import ArgumentParser
import Encodings
import EntitlementLedger
import Entitlements
import EventLog
import Foundation
import LMDBStorage
import LedgerOperations

/// The command `entitle restore`.
struct Restore: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore",
        abstract: "Makes a ledger from a backup, or from an archive and a copy of the vault.",
        discussion: HelpText.discussion(
            """
            Overwrites nothing; audits what it made. Erasures of the source are applied, also those \
            beyond the cut. A ledger restored to less than a published checkpoint never signs again, \
            unless it goes on under a new name: --continue.
            """,
            examples: "entitle restore copies/monday --into restored --dry-run"
        )
    )

    @OptionGroup var options: LedgerOptions
    @Argument(help: "A backup, or an archive.") var source: String
    @Option(help: "The new ledger's directory.") var into: String
    @Option(help: "The folder with the vault's copy (default: SOURCE/vault).") var vault: String?
    @Option(help: "Only the first N events.") var untilSequence: UInt64?
    @Option(
        parsing: .unconditional,
        help: "Only what was recorded by then: RFC 3339, a date, or -36h."
    )
    var until: String?
    @OptionGroup var continuation: ContinuationOptions
    @Flag(help: "Says what would be restored, and writes nothing.") var dryRun = false

    func validate() throws {
        if until != nil && untilSequence != nil {
            throw ValidationError("--until and --until-sequence exclude each other")
        }
    }

    func run() throws {
        try OperationFault.naming(into) { try LedgerDirectory.requireRoom(at: into) }
        let restore = try OperationFault.naming(source) {
            try LedgerRestore(from: source, vault: vault, cut: cut())
        }
        let counts = dryRun ? nil : try make(restore)
        show(restore.plan, counts)
        if counts != nil { try audit() }
    }

    private func cut() throws -> ArchiveRestore.Cut {
        if let untilSequence { return .size(untilSequence) }
        guard let until else { return .everything }
        return .recorded(try InstantArgument.parse(until, place: "--until"))
    }

    private func make(_ restore: LedgerRestore) throws -> VaultCounts {
        let key = try options.keyOptions.read(orAt: into)
        let progress = Progress("restored")
        defer { progress.finish() }
        return try restore.write(
            into: into,
            masterKey: key,
            as: continuation.made(options, masterKey: key)
        ) { progress.show($0, of: $1) }
    }

    private func show(_ plan: ArchiveRestore.Plan, _ counts: VaultCounts?) {
        if options.json {
            Terminal.line(
                .members([
                    "source": .string(source), "into": .string(into),
                    "archived": .integer(plan.archived), "restored": .integer(plan.restored),
                    "lastRecordedAt": .instant(plan.lastRecordedAt),
                    "dryRun": .bool(counts == nil),
                    "streams": counts.map { .integer($0.streams) } ?? .null,
                    "erased": counts.map { .integer($0.erased) } ?? .null,
                ])
            )
            return
        }
        let last = plan.lastRecordedAt.map { ", the last recorded at \($0)" } ?? ""
        let verb = counts == nil ? "would restore" : "restored"
        Terminal.line("\(verb) \(plan.restored) of \(plan.archived) events\(last), to \(into)")
        if let counts {
            Terminal.line("\(counts.streams) streams in its vault, \(counts.erased) of them erased")
        }
    }

    /// What was made is audited as a stranger would.
    private func audit() throws {
        let outcome = try AuditChild.own.run(
            ["--ledger", into],
            key: options.keyOptions.read(orAt: into),
            isHeard: true
        )
        Terminal.note(
            String(decoding: outcome.output, as: UTF8.self).trimmingCharacters(in: .newlines)
        )
        guard outcome.code == 0 else {
            throw OperationFault(
                .damaged,
                "the restored ledger is not sound",
                place: into,
                hint: "run `entitle audit --ledger \(into)` to see what is damaged"
            )
        }
    }
}
