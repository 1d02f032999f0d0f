import ArgumentParser
import EntitlementLedger
import LedgerAPI
import LedgerOperations
import LedgerServer
import Presentation

/// The command `entitle status`.
struct Status: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
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
    @OptionGroup var server: ServerOptions
    @Flag(help: "Without the master key.") var withoutKey = false

    func run() throws {
        if let client = try server.named() {
            let answer = try client.answer(.get(["v1", "status"]), as: StatusAnswer.self)
            return try show(answer)
        }
        func status(_ ledger: Ledger) throws -> StatusAnswer {
            var status = try ledger.auditor.status()
            status.disk = try StatusAnswer.DiskUse(ofLedgerAt: options.path, ledger.auditor)
            return status
        }
        var status =
            withoutKey
            ? try options.withKeylessLedger(status)
            : try options.withLedger(writing: false, status)
        let told = try told()
        (status.jobs, status.alerts) = (told?.jobs, told?.alerts)
        try show(status)
    }

    /// What the server that holds the ledger says of itself, where one does.
    private func told() throws -> StatusAnswer? {
        guard let client = try server.writing(options) else { return nil }
        // How the ledger is does not depend on what its server says.
        return try? client.answer(.get(["v1", "status"]), as: StatusAnswer.self)
    }

    private func show(_ status: StatusAnswer) throws {
        Terminal.tell(AnswerText(status), or: status.textLines, asJSON: options.json)
        if status.health == .eventsLost { throw ExitCode(.no) }
    }
}
