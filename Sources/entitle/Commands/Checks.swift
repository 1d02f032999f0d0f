import ArgumentParser
import Encodings
import EntitlementLedger
import Entitlements
import LMDBStorage

/// The command `entitle rebuild`.
struct Rebuild: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Writes the views anew from the log, beside the old, and switches at once.",
        discussion: "Stopped half-way, the next one goes on where it was."
    )

    @OptionGroup var options: LedgerOptions

    func run() throws {
        let progress = Progress("rebuilt")
        let events = try options.withLedger(writing: true, recovery: .rebuild) { ledger in
            let events = try ledger.rebuild { progress.show($0, of: $1) }
            try ledger.rollUpRevenue(options.environment())
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

/// The command `entitle status`.
struct Status: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "How the ledger is.")

    @OptionGroup var options: LedgerOptions
    @Flag(help: "Without the master key.") var withoutKey = false

    func run() throws {
        func status(_ ledger: Ledger) throws -> JSONValue { try ledger.status() }
        let status =
            withoutKey
            ? try options.withKeylessLedger(status)
            : try options.withLedger(writing: false, status)
        if options.json { return Terminal.line(status) }
        for member in status.members ?? [] {
            let value = member.value.string ?? member.value.description
            Terminal.line("\(member.name): \(value)")
        }
    }
}
