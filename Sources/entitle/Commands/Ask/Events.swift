import ArgumentParser
import Encodings
import EntitlementLedger
import Entitlements
import Foundation
import LedgerAPI
import LedgerOperations
import LedgerServer
import Presentation

/// What `events` and `tail` filter by.
struct EventFilterOptions: ParsableArguments {
    @Option(help: "Only about this customer and the purchases they claimed or owned.")
    var customer: String?
    @Option(help: "Only about this purchase: STORE/ORIGINAL_ID.") var purchase: String?
    @Option(help: "Only of this type, such as purchase.renewed.") var type: String?
    @Option(help: "Only of this source, such as revenuecat.") var source: String?
    @Option(parsing: .unconditional, help: "Effective time at or after.") var since: String?
    @Option(parsing: .unconditional, help: "Effective time before.") var until: String?
    @Option(help: "End after so many events.") var limit: Int?

    /// What they do where nothing names an environment, which other commands take for `production`.
    static let environments = """
        Unless --environment or a setting names one, events of all environments are shown.
        """

    func validate() throws {
        guard limit ?? 0 >= 0 else { throw ValidationError("--limit is 0 or more") }
    }

    /// Which events are asked for, wherever they stand.
    func filter(_ options: LedgerOptions) throws -> EventFilter {
        var filter = EventFilter(sequences: 0..<UInt64.max)
        filter.customer = try customer.map(CustomerArgument.checked)
        filter.purchase = try purchase.map(PurchaseArgument.checked)
        filter.source = source
        if let type {
            guard let kind = EventKind(name: type) else {
                throw OperationFault(.usage, "no such event type", place: "--type")
            }
            filter.kind = kind
        }
        if options.environmentName ?? Invocation.current.settings[.environment] != nil {
            filter.environment = try options.environment()
        }
        if since != nil || until != nil {
            let now = SystemClock.now()
            filter.times = Interval(
                start: try since.map { try InstantArgument.parse($0, place: "--since", now: now) }
                    ?? Instant(milliseconds: .min),
                end: try until.map { try InstantArgument.parse($0, place: "--until", now: now) }
            )
        }
        return filter
    }
}

/// A purchase as an argument.
enum PurchaseArgument {
    static func checked(_ text: String) throws -> PurchaseName {
        guard let name = PurchaseName(text) else {
            throw OperationFault(
                .usage,
                "a purchase is STORE/ORIGINAL_ID",
                place: "PURCHASE",
                hint: "such as app_store/2000000123"
            )
        }
        return name
    }
}

/// The command `entitle events`.
struct Events: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "events",
        abstract: "Lists events as CloudEvents, one a line.",
        discussion: HelpText.discussion(
            EventFilterOptions.environments,
            examples: "entitle events --customer alice --raw"
        )
    )

    @OptionGroup var options: LedgerOptions
    @OptionGroup var server: ServerOptions
    @OptionGroup var filter: EventFilterOptions
    @Option(help: "From this sequence on.") var from: UInt64 = 0
    @Option(help: "Up to this sequence, exclusive.") var to: UInt64?
    @Flag(help: "With the payload that each was read from, as it was received.") var raw = false

    func run() throws {
        var left = self.filter.limit ?? .max
        var filter = try filter.filter(options)
        filter.sequences = from..<max(from, to ?? .max)
        if let client = try server.named() {
            let (wanted, isRaw, options) = (left, raw, options)
            return try Blocking.value { [filter] in
                try await client.events(filter, withEvidence: isRaw, limit: wanted) { event in
                    EventText.print(event, options)
                    return true
                }
            }
        }
        try options.withLedger(writing: false) { ledger in
            try ledger.questions.events(filter) { sequence, event in
                guard left > 0 else { return false }
                left -= 1
                let shown = raw ? try ledger.questions.withEvidence(event, of: sequence) : event
                EventText.print(shown, options)
                return left > 0
            }
        }
    }
}

/// The command `entitle tail`.
struct Tail: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tail",
        abstract: "Follows the log: new events as they are recorded.",
        discussion: HelpText.discussion(
            EventFilterOptions.environments,
            examples: "entitle tail --json"
        )
    )

    @OptionGroup var options: LedgerOptions
    @OptionGroup var server: ServerOptions
    @OptionGroup var filter: EventFilterOptions
    @Option(help: "Begin after this sequence (default: at the end).") var after: UInt64?

    private static let pollMicroseconds: UInt32 = 200_000
    /// A server counts how often it is asked.
    private static let serverPollMicroseconds: UInt32 = 1_000_000

    func run() throws {
        Interrupt.catchSignals()
        let filter = try filter.filter(options)
        if let client = try server.named() { return try follow(client, filter) }
        var (wanted, left) = (filter, self.filter.limit ?? .max)
        try options.withLedger(writing: false) { ledger in
            var next = try after.map(Self.following) ?? ledger.questions.size()
            while left > 0 && !Interrupt.isRaised {
                let size = try ledger.questions.size()
                if next < size {
                    wanted.sequences = next..<size
                    try ledger.questions.events(wanted) { _, event in
                        left -= 1
                        EventText.print(event, options)
                        return left > 0
                    }
                    next = size
                } else {
                    usleep(Self.pollMicroseconds)
                }
            }
        }
    }

    private func follow(_ client: ServerClient, _ filter: EventFilter) throws {
        var (next, left) = (try after.map(Self.following), self.filter.limit ?? .max)
        while left > 0 && !Interrupt.isRaised {
            guard let start = next else {
                let status = try client.answer(.get(["v1", "status"]), as: StatusAnswer.self)
                next = status.sequence
                continue
            }
            var asked = filter
            asked.sequences = start..<(.max)
            let (limit, options) = (left, options)
            let (seen, size) = try Blocking.value { [asked] in
                var seen = 0
                let size = try await client.events(asked, limit: limit) { event in
                    seen += 1
                    EventText.print(event, options)
                    return true
                }
                return (seen, size)
            }
            left -= seen
            guard left > 0 else { break }
            next = max(start, size ?? start)
            usleep(Self.serverPollMicroseconds)
        }
    }

    private static func following(_ sequence: UInt64) throws -> UInt64 {
        let (next, isBeyond) = sequence.addingReportingOverflow(1)
        guard !isBeyond else {
            throw OperationFault(
                .usage,
                "no event can stand after the largest sequence",
                place: "--after"
            )
        }
        return next
    }
}

/// Prints one event.
enum EventText {
    static func print(_ event: JSONValue, _ options: LedgerOptions) {
        if options.json {
            Terminal.line(event)
            return
        }
        let reader = ObjectReader(event)
        let sequence = reader.value("sequence")?.string.flatMap { UInt64($0) }
        Terminal.line(
            ([sequence.map { String($0) } ?? ""]
                + ["time", "type", "subject", "source"].map { CellText.text(reader.value($0)) }
                + [reader.value("data")?.description ?? ""]).joined(separator: "\t")
        )
        if let evidence = reader.value("evidence") { Terminal.line("\t" + CellText.text(evidence)) }
    }
}
