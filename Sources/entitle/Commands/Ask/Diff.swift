import ArgumentParser
import Encodings
import EntitlementLedger
import Entitlements
import LedgerAPI
import LedgerOperations
import LedgerServer
import Presentation

/// The command `entitle diff`.
struct Diff: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "diff",
        abstract: "What changed for a customer between two instants, or became known.",
        discussion: HelpText.discussion(
            """
            Give --at twice for two effective times, or --known (--known-sequence) twice for what \
            became known in between. Given once, --known is compared with all that is known; else \
            --at given once is compared with now.
            """,
            HelpText.times,
            examples: "entitle diff alice --at 2026-03-01 --at 2026-04-01",
            "entitle diff alice --at 2026-04-10 --known 2026-05-01"
        )
    )

    @OptionGroup var options: LedgerOptions
    @OptionGroup var server: ServerOptions
    @Option(
        parsing: .unconditionalSingleValue,
        help: "Effective time: RFC 3339, a date, now, -36h, -30d (default: now)."
    )
    var at: [String] = []
    @Option(
        parsing: .unconditionalSingleValue,
        help: "As known then: RFC 3339, a date, now, -36h, -30d (default: everything)."
    )
    var known: [String] = []
    @Option(parsing: .singleValue, help: "As known after the first N events.")
    var knownSequence: [UInt64] = []
    @Argument(help: "A customer id.") var customer: String

    func run() throws {
        let (from, to) = try points(now: SystemClock.now())
        let question = DifferenceQuestion(
            customer: try CustomerArgument.checked(customer),
            environment: try options.environment(),
            from: from,
            to: to
        )
        if let client = try server.named() {
            let call = ServerCall.get(
                ["v1", "customers", question.customer.text, "diff"],
                [("environment", question.environment.name)]
                    + from.parameters("at", "known", "knownSequence")
                    + to.parameters("toAt", "toKnown", "toKnownSequence")
            )
            let answer = try client.answer(call, as: DifferenceAnswer.self)
            return Terminal.tell(AnswerText(answer), or: answer.textLines, asJSON: options.json)
        }
        let answer = try options.withLedger(writing: false) {
            try $0.questions.difference(question)
        }
        Terminal.tell(answer.text, or: answer.answer.textLines, asJSON: options.json)
    }

    /// The two points: what is given once holds for both, unless it is all that differs.
    private func points(now: Instant) throws -> (BitemporalPoint, BitemporalPoint) {
        let ats = try at.map { try InstantArgument.parse($0, place: "--at", now: now) }
        let prefixes =
            try known.map {
                BitemporalPoint.Known.instant(
                    try InstantArgument.parse($0, place: "--known", now: now)
                )
            } + knownSequence.map { .sequence($0) }
        guard known.isEmpty || knownSequence.isEmpty else {
            throw Self.usage("--known and --known-sequence exclude each other")
        }
        guard ats.count <= 2, prefixes.count <= 2, ats.count + prefixes.count < 4 else {
            throw Self.usage("two points differ in --at or in --known, not in both")
        }
        guard !ats.isEmpty || !prefixes.isEmpty else {
            throw Self.usage("--at or --known is missing")
        }
        let at = (first: ats.first ?? now, second: ats.dropFirst().first)
        let prefix = (first: prefixes.first ?? .everything, second: prefixes.dropFirst().first)
        let from = BitemporalPoint(at: at.first, knownAt: prefix.first)
        if let second = at.second {
            return (from, BitemporalPoint(at: second, knownAt: prefix.first))
        }
        if prefixes.isEmpty { return (from, BitemporalPoint(at: now, knownAt: .everything)) }
        return (from, BitemporalPoint(at: at.first, knownAt: prefix.second ?? .everything))
    }

    private static func usage(_ message: String) -> OperationFault {
        OperationFault(
            .usage,
            message,
            hint: "such as `--at 2026-01-01 --at now` or `--known -30d`"
        )
    }
}
