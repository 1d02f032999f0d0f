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
    private static let members: Set<String> = [
        "customer", "at", "known", "knownSequence", "environment",
    ]

    static func read(
        _ line: LineReader.Line,
        _ environment: StoreEnvironment,
        _ defaults: BitemporalPoint
    ) throws -> CustomerQuestion {
        func refuse(_ path: String, _ message: String) -> CommandFailure {
            CommandFailure(
                .badInput,
                "invalid_question",
                message,
                place: "line \(line.number): \(path)"
            )
        }
        guard let bytes = line.bytes, let json = try? JSONValue(parsing: bytes),
            let members = json.members
        else { throw refuse("", "not a JSON object") }
        if let unknown = members.first(where: { !Self.members.contains($0.name) }) {
            throw refuse(unknown.name, "not a member of a question")
        }
        guard let customer = json["customer"]?.string, Identifier.isValid(customer) else {
            throw refuse("customer", "expected a customer id")
        }
        func instant(_ name: String) throws -> Instant? {
            guard let value = json[name], !value.isNull else { return nil }
            guard
                let instant = value.string.flatMap({
                    InstantArgument.parse($0, now: SystemClock.now())
                })
            else { throw refuse(name, "expected an instant") }
            return instant
        }
        var point = defaults
        if let at = try instant("at") { point.at = at }
        if let known = try instant("known") { point.knownAt = .instant(known) }
        if let count = json["knownSequence"], !count.isNull {
            guard let count = count.integer, count >= 0 else {
                throw refuse("knownSequence", "expected a count")
            }
            point.knownAt = .sequence(UInt64(count))
        }
        var asked = environment
        if let name = json["environment"], !name.isNull {
            guard let named = name.string.flatMap(StoreEnvironment.init(name:)) else {
                throw refuse("environment", "expected production, sandbox or local")
            }
            asked = named
        }
        return CustomerQuestion(customer: customer, environment: asked, point: point)
    }
}
