import ArgumentParser
import Encodings
import EntitlementLedger
import Entitlements
import LMDBStorage
import LedgerServer

/// The command `entitle rebuild`.
struct Rebuild: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rebuild",
        abstract: "Writes the views anew from the log, beside the old, and switches at once.",
        discussion: HelpText.discussion(
            "Stopped half-way, the next one goes on where it was.",
            examples: "entitle rebuild"
        )
    )

    @OptionGroup var options: LedgerOptions
    @OptionGroup var server: ServerOptions

    func run() throws {
        if let client = try server.writing(options) {
            let call = ServerCall.post(
                ["v1", "rebuild"],
                [("environment", try options.environment().name)]
            )
            return show(
                try client.member("events", of: call.untilDone) {
                    $0.integer.flatMap { UInt64(exactly: $0) }
                }
            )
        }
        let progress = Progress("rebuilt")
        let events = try options.withLedger(writing: true, recovery: .rebuild) { ledger in
            let events = try ledger.auditor.rebuild { progress.show($0, of: $1) }
            try ledger.identifiers.readAnew()
            try ledger.reports.rollUp(options.environment())
            return events
        }
        progress.finish()
        show(events)
    }

    private func show(_ events: UInt64) {
        if options.json {
            Terminal.line(.members(["events": .integer(events)]))
        } else {
            Terminal.line("rebuilt the views from \(events) events")
        }
    }
}
