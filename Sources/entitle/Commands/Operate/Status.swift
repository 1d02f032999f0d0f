import ArgumentParser
import Encodings
import EntitlementLedger
import Entitlements
import LedgerAPI
import LedgerOperations

/// The command `entitle status`.
struct Status: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "How the ledger is: exit 1 where events were lost.",
        discussion: HelpText.discussion(
            """
            Its health is ok, views_discarded (answers come from the log until a command that \
            writes makes the views anew) or events_lost (a salvage could not bring all back).
            """,
            examples: "entitle status"
        )
    )

    @OptionGroup var options: LedgerOptions
    @Flag(help: "Without the master key.") var withoutKey = false

    func run() throws {
        func status(_ ledger: Ledger) throws -> StatusAnswer { try ledger.auditor.status() }
        var status =
            withoutKey
            ? try options.withKeylessLedger(status)
            : try options.withLedger(writing: false, status)
        status.disk = try StatusAnswer.DiskUse(ofLedgerAt: options.path)
        if options.json {
            Terminal.line(AnswerText(status))
        } else {
            Self.print(status)
        }
        if status.health == .eventsLost { throw ExitCode(.no) }
    }

    private static func megabytes(_ bytes: Int64) -> String {
        "\((bytes + 999_999) / 1_000_000) MB"
    }

    private static func print(_ status: StatusAnswer) {
        let counts = status.environmentCounts
        let environments = [
            ("production", counts.production), ("sandbox", counts.sandbox), ("local", counts.local),
        ].filter { $0.1 > 0 }.map { "\($0.1) \($0.0)" }
        let last = status.lastRecordedAt.map { "the last recorded at \($0)" }
        let said = (environments + [last].compactMap(\.self)).joined(separator: ", ")
        Terminal.line(
            "\(status.health.rawValue): \(status.sequence) events"
                + (said.isEmpty ? "" : " (\(said))")
        )
        switch status.health {
        case .ok: break
        case .viewsDiscarded:
            Terminal.line("views are not believed: \(status.views.discarded ?? "")")
            Terminal.line("answers come from the log; the next command that writes makes them anew")
        case .eventsLost:
            Terminal.line("a salvage could not bring back \(status.lost ?? 0) events")
            Terminal.line("next: `entitle audit` says which; import them again from their sources")
        }
        let signed = status.checkpoint.map { "\($0.size) events, root \($0.rootHash)" }
        Terminal.line("signed: \(signed ?? "nothing yet")")
        if let disk = status.disk {
            let parts = [("log", disk.log), ("vault", disk.vault), ("views", disk.views)]
            let taken = parts.map { "\($0.0) \(megabytes($0.1))" }.joined(separator: ", ")
            Terminal.line("disk: \(taken); \(megabytes(disk.free)) free")
        }
        ShowText.table(
            "sources",
            status.completeness.map { source in
                [
                    source.name, "\(source.value.events) events",
                    source.value.through.map { "complete until \($0)" } ?? "",
                ]
            }
        )
    }
}
