import ArgumentParser
import Encodings
import EntitlementLedger
import Entitlements
import Foundation
import LedgerAPI
import LedgerOperations
import LedgerServer
import Presentation

/// The command `entitle show`.
struct Show: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "The state of a customer at T, as known at R.",
        discussion: HelpText.discussion(
            HelpText.times,
            examples: "entitle show alice",
            "entitle show alice --at 2026-04-10 --known 2026-05-02 --json",
            "entitle show --token TOKEN --server https://ledger.example.com --token-file key.txt"
        )
    )

    @OptionGroup var options: LedgerOptions
    @OptionGroup var server: ServerOptions
    @OptionGroup var point: PointOptions
    @Option(
        help: ArgumentHelp(
            "Answers NDJSON questions {\"customer\",\"at\"?,\"known\"?,\"knownSequence\"?,\"environment\"?} in order.",
            valueName: "file|-"
        )
    )
    var questions: String?
    @Option(
        help: "Answers again what this decision token stands for, byte for byte; exit 3 if not."
    )
    var token: String?
    @Argument(help: "A customer id.") var customer: String?

    func run() throws {
        if let token { return try answerAgain(token) }
        if let questions {
            guard customer == nil else {
                throw OperationFault(.usage, "--questions takes no CUSTOMER")
            }
            return try answer(questions)
        }
        guard let customer else {
            throw OperationFault(.usage, "CUSTOMER or --questions is missing")
        }
        let question = CustomerQuestion(
            customer: try CustomerArgument.checked(customer),
            environment: try options.environment(),
            point: try point.point()
        )
        if let client = try server.named() {
            let answer = try client.answer(question.call(), as: StateAnswer.self)
            return Terminal.tell(AnswerText(answer), or: answer.textLines, asJSON: options.json)
        }
        let answer = try options.withLedger(writing: false) { try $0.questions.show(question) }
        Terminal.tell(answer.text, or: answer.answer.textLines, asJSON: options.json)
    }

    /// A decision token is asked again, and its answer compared byte for byte (row Z11).
    private func answerAgain(_ text: String) throws {
        guard let token = DecisionToken(text) else {
            throw OperationFault(
                .invalidToken,
                "not a decision token, or one of a newer version",
                place: "--token"
            )
        }
        let customer = try customer.map(CustomerArgument.checked)
        if let client = try server.named() { return try ask(client, token, customer) }
        let outcome = try options.withLedger(writing: false) { ledger in
            try ledger.questions.answer(to: token, customer: customer)
        }
        let answer: TokenAnswer
        switch outcome {
        case .answered(let found): answer = found
        case .refused(let refusal): throw OperationFault(refusal)
        }
        if case .state(let state) = answer, !options.json {
            Terminal.lines(state.answer.textLines)
        } else {
            Terminal.line(answer.text)
        }
    }

    /// A server is asked what a decision token stands for.
    private func ask(
        _ client: ServerClient,
        _ token: DecisionToken,
        _ customer: CustomerID?
    ) throws {
        let call = ServerCall.get(
            ["v1", "decisions", token.text],
            customer.map { [("customer", $0.text)] } ?? []
        )
        do {
            let json = try client.read(call) { json in
                // Whoever answers something else is no server of this program.
                json["token"]?.string == token.text ? json : nil
            }
            guard token.answer == .state, !options.json else {
                return Terminal.line(json.description)
            }
            Terminal.lines(try client.understood(json, as: StateAnswer.self).textLines)
        } catch let fault as OperationFault {
            guard let code = TokenRefusal.Code(rawValue: fault.code.rawValue) else { throw fault }
            throw OperationFault(TokenRefusal(code: code, message: fault.message))
        }
    }

    /// Each question is answered before the next one is read: whoever asks may wait for it.
    private func answer(_ file: String) throws {
        if let client = try server.named() {
            return try eachQuestion(of: file) { question in
                AnswerText(try client.answer(question.call(), as: StateAnswer.self))
            }
        }
        try options.withLedger(writing: false) { ledger in
            try eachQuestion(of: file) { try ledger.questions.show($0).text }
        }
    }

    private func eachQuestion(
        of file: String,
        _ answer: (CustomerQuestion) throws -> AnswerText
    ) throws {
        let environment = try options.environment()
        let defaults = try point.point()
        let reader = try LineReader(file, isInterrupted: { Interrupt.isRaised })
        while let line = try reader.next() {
            if line.isBlank { continue }
            let question = try QuestionLine.read(line, environment, defaults)
            Terminal.line(try QuestionLine.naming(line) { try answer(question) })
        }
    }
}

/// A customer id as an argument.
enum CustomerArgument {
    static func checked(_ text: String) throws -> CustomerID {
        guard let id = CustomerID(text) else {
            throw OperationFault(
                .usage,
                "a customer id has 1 to 1024 bytes without control characters",
                place: "CUSTOMER"
            )
        }
        return id
    }

    /// The customers of a file with an id on each line, each once; `-` is standard input.
    ///
    /// - Throws: `OperationFault` that names the line on which none stands; where there is none at all.
    static func listed(in file: String) throws -> [CustomerID] {
        let reader = try LineReader(file, isInterrupted: { Interrupt.isRaised })
        var customers: [CustomerID] = []
        var met: Set<CustomerID> = []
        while var line = try reader.next() {
            // No id ends so: it is a line's end as some programs write it.
            if line.bytes?.last == UInt8(ascii: "\r") { line.bytes?.removeLast() }
            if line.bytes?.isEmpty == true { continue }
            let text = line.bytes.flatMap { String(validating: $0, as: UTF8.self) }
            guard let customer = text.flatMap({ CustomerID($0) }) else {
                throw OperationFault(
                    .malformed,
                    "no customer id stands there: 1 to 1024 bytes of text",
                    place: "\(file), line \(line.number)"
                )
            }
            if met.insert(customer).inserted { customers.append(customer) }
        }
        // Of a list that somebody kept from being read nothing is known.
        guard !customers.isEmpty || Interrupt.isRaised else {
            throw OperationFault(.invalidValue, "it names no customer", place: file)
        }
        return customers
    }
}

/// One line of `show --questions`.
enum QuestionLine {
    static func read(
        _ line: LineReader.Line,
        _ environment: StoreEnvironment,
        _ defaults: BitemporalPoint
    ) throws -> CustomerQuestion {
        do {
            guard let bytes = line.bytes else {
                throw InputFault(.invalidValue, "", "longer than a line may be")
            }
            return try CustomerQuestion(
                JSONValue(parsing: bytes),
                environment: environment,
                point: defaults,
                now: SystemClock.now()
            )
        } catch let fault as JSONFault {
            throw OperationFault(
                .invalidQuestion,
                "\(fault.message) at byte \(fault.offset)",
                place: "line \(line.number)"
            )
        } catch let fault as InputFault {
            throw OperationFault(
                .invalidQuestion,
                fault.detail,
                place: place(line, fault.path)
            )
        }
    }

    /// Answers the question of a line, which is named where the ledger or a server refuses it.
    static func naming<Answer>(
        _ line: LineReader.Line,
        _ answer: () throws -> Answer
    ) throws -> Answer {
        do {
            return try answer()
        } catch  where error is LedgerFault || error is OperationFault {
            var fault = OperationFault(telling: error, ofLedgerAt: nil)
            // Of what else fails the question is not the reason.
            guard fault.code.status == .badInput else { throw error }
            fault.place = place(line, fault.place ?? "")
            throw fault
        }
    }

    private static func place(_ line: LineReader.Line, _ path: String) -> String {
        "line \(line.number)" + (path.isEmpty ? "" : ": \(path)")
    }
}
