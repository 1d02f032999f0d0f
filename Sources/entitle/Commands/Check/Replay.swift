import ArgumentParser
import Encodings
import EntitlementLedger
import Entitlements
import EventLog
import LedgerAPI
import LedgerOperations
import Presentation
import Stores

/// The command `entitle replay`.
struct Replay: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Folds everything again and compares, writing nothing.",
        discussion: HelpText.discussion(
            """
            With --known, --known-sequence, --customer or --tokens it is an auditor's: the answers \
            of then are made from that prefix of the log alone and held against the ledger's, the \
            evidence is judged again as of when it was signed (RevenueCat signs none), and decision \
            tokens are asked again. Exit 3 where something differs.
            """,
            HelpText.times,
            examples: "entitle replay --known 2026-04-01"
        )
    )

    @OptionGroup var options: LedgerOptions
    @OptionGroup var point: PointOptions
    @OptionGroup var stores: StoresOptions
    @Option(help: "Only this customer.") var customer: String?
    @Option(help: "Decision tokens, one a line, or answers that hold one; - for standard input.")
    var tokens: String?

    private var isForAuditor: Bool {
        customer != nil || tokens != nil || point.known != nil || point.knownSequence != nil
    }

    func run() throws {
        let progress = Progress("replayed")
        let environment = try options.environment()
        let point = try point.point()
        let report = try options.withLedger(writing: false) { ledger in
            if isForAuditor { return try audit(ledger, point, environment, progress) }
            return try ledger.auditor.replay(point: point, environment: environment) {
                progress.show($0, of: $1)
            }
        }
        progress.finish()
        Terminal.tell(AnswerText(report), or: report.textLines, asJSON: options.json)
        if !report.isOK { throw ExitCode(.integrity) }
    }

    private func audit(
        _ ledger: Ledger,
        _ point: BitemporalPoint,
        _ environment: StoreEnvironment,
        _ progress: Progress
    ) throws -> ReplayAnswer {
        let customer = try customer.map(CustomerArgument.checked)
        let verifier = try stores.evidenceVerifier(options)
        let replay = try ledger.auditor.replay(knownAt: point.knownAt)
        var report = try replay.answers(
            at: point.at,
            environment: environment,
            customer: customer
        ) { progress.show($0, of: $1) }
        report.evidence = try replay.evidence(of: customer, environment: environment) {
            evidence,
            event,
            recordedAt in
            Blocking.wait {
                await verifier.verdict(on: evidence, of: event, recordedAt: recordedAt)
            }
        } progress: {
            progress.show($0, of: $1)
        }
        if let tokens {
            let reader = try LineReader(tokens, isInterrupted: { Interrupt.isRaised })
            report.tokens = try replay.tokens { try Self.token(reader, customer) }
        }
        return report
    }

    /// The next token of a file, by itself or in an answer; nil at the end.
    private static func token(
        _ reader: LineReader,
        _ customer: CustomerID?
    ) throws -> (token: DecisionToken?, customer: CustomerID?)? {
        var next = try reader.next()
        while let line = next, line.isBlank { next = try reader.next() }
        guard let line = next else { return nil }
        guard let bytes = line.bytes else { return (nil, customer) }
        if let answer = try? JSONValue(parsing: bytes), answer.members != nil {
            let reader = ObjectReader(answer)
            let token = reader.understood("token").flatMap { DecisionToken($0) }
            let answered = reader.understood("customer").flatMap { CustomerID($0) }
            return (token, customer ?? answered)
        }
        let text = String(decoding: bytes, as: UTF8.self).filter { !$0.isWhitespace }
        return (DecisionToken(text), customer)
    }
}
