import ArgumentParser
import Encodings
import EntitlementLedger
import Entitlements
import LMDBStorage

/// The command `entitle rebuild`.
struct Rebuild: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Writes the views anew from the log, beside the old, and switches at once.",
        discussion: HelpText.discussion(
            "Stopped half-way, the next one goes on where it was.",
            examples: "entitle rebuild"
        )
    )

    @OptionGroup var options: LedgerOptions

    func run() throws {
        let progress = Progress("rebuilt")
        let events = try options.withLedger(writing: true, recovery: .rebuild) { ledger in
            let events = try ledger.auditor.rebuild { progress.show($0, of: $1) }
            try ledger.reports.rollUp(options.environment())
            return events
        }
        progress.finish()
        if options.json {
            Terminal.line(.members(["events": .integer(events)]))
        } else {
            Terminal.line("rebuilt the views from \(events) events")
        }
    }
}
