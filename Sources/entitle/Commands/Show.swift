import ArgumentParser
import EntitlementLedger
import Entitlements
import Foundation

/// The command `entitle show`.
struct Show: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "The state of a customer at T, as known at R."
    )

    @OptionGroup var options: LedgerOptions
    @OptionGroup var point: PointOptions
    @Option(
        help: ArgumentHelp(
            "Answers NDJSON questions {\"customer\",\"at\"?,\"known\"?,\"knownSequence\"?,\"environment\"?} in order.",
            valueName: "file|-"
        )
    )
    var questions: String?
    @Argument(help: "A customer id.") var customer: String?

    func run() throws {
        if let questions {
            guard customer == nil else {
                throw CommandFailure(.usage, "usage", "--questions takes no CUSTOMER")
            }
            return try answer(questions)
        }
        guard let customer else {
            throw CommandFailure(.usage, "usage", "CUSTOMER or --questions is missing")
        }
        let question = CustomerQuestion(
            customer: try CustomerArgument.checked(customer),
            environment: try options.environment(),
            point: try point.point()
        )
        let answer = try options.withLedger(writing: false) { try $0.show(question) }
        if options.json { Terminal.line(answer) } else { ShowText.print(answer) }
    }

    private func answer(_ file: String) throws {
        let environment = try options.environment()
        let defaults = try point.point()
        try options.withLedger(writing: false) { ledger in
            let reader = try LineReader(file)
            while let line = try reader.next() {
                if line.isBlank { continue }
                let question = try QuestionLine.read(line, environment, defaults)
                Terminal.line(try ledger.show(question))
            }
        }
    }
}

/// A customer id as an argument.
enum CustomerArgument {
    static func checked(_ id: String) throws -> String {
        guard Identifier.isValid(id) else {
            throw CommandFailure(
                .usage,
                "usage",
                "a customer id has 1 to 1024 bytes without control characters",
                place: "CUSTOMER"
            )
        }
        return id
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
            guard let bytes = line.bytes, let json = try? JSONValue(parsing: bytes) else {
                throw QuestionFault(path: "", message: "not a JSON object")
            }
            return try CustomerQuestion(
                json,
                environment: environment,
                point: defaults,
                now: SystemClock.now()
            )
        } catch let fault as QuestionFault {
            throw CommandFailure(
                .badInput,
                "invalid_question",
                fault.message,
                place: "line \(line.number): \(fault.path)"
            )
        }
    }
}
