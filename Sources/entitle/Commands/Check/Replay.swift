import ArgumentParser
import Encodings
import EntitlementLedger
import Entitlements
import EventLog
import LedgerAPI
import LedgerOperations
import LedgerServer
import Presentation
import Stores

/// The command `entitle replay`.
struct Replay: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "replay",
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
    @OptionGroup var server: ServerOptions
    @OptionGroup var point: PointOptions
    @OptionGroup var stores: StoresOptions
    @Option(help: "Only this customer.") var customer: String?
    @Option(help: "Decision tokens, one a line, or answers that hold one; - for standard input.")
    var tokens: String?

    func run() throws {
        let environment = try options.environment()
        let point = try point.point()
        let customer = try customer.map(CustomerArgument.checked)
        if let client = try server.named() {
            return try show(asked(client, point, environment, customer))
        }
        let replay = ReplayRun(
            at: point,
            in: environment,
            of: customer,
            hasTokens: tokens != nil
        )
        let verifier = try stores.evidenceVerifier(options)
        let progress = Progress("replayed")
        let answer = try options.withLedger(writing: false) { ledger in
            try replay.run(
                ledger.auditor,
                judging: verifier,
                tokens: next(customer),
                progress: { progress.show($0, of: $1) }
            )
        }
        progress.finish()
        try show(answer)
    }

    private func show(_ answer: ReplayAnswer) throws {
        Terminal.tell(AnswerText(answer), or: answer.textLines, asJSON: options.json)
        if !answer.isOK { throw ExitCode(.integrity) }
    }

    /// What a server finds, which judges evidence by its own stores.
    private func asked(
        _ client: ServerClient,
        _ point: BitemporalPoint,
        _ environment: StoreEnvironment,
        _ customer: CustomerID?
    ) throws -> ReplayAnswer {
        var request = ReplayRequest(customer: customer?.text)
        if tokens != nil {
            let next = try next(customer)
            var given: [GivenToken] = []
            while let (token, customer) = try next() {
                given.append(GivenToken(token: token?.text, customer: customer?.text))
            }
            request.tokens = given
        }
        let call = ServerCall.post(
            ["v1", "replay"],
            [("environment", environment.name)] + point.parameters("at", "known", "knownSequence"),
            written: AnswerText(request)
        )
        return try client.answer(call.untilDone, as: ReplayAnswer.self)
    }

    /// Reads the tokens that are named, one after the other.
    private func next(_ customer: CustomerID?) throws -> ReplayRun.NextToken {
        guard let tokens else { return { nil } }
        let reader = try LineReader(tokens, isInterrupted: { Interrupt.isRaised })
        return { try Self.token(reader, customer) }
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
