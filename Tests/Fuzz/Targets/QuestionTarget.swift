import Encodings
import EntitlementLedger
import Entitlements
import ModelSupport

/// A question as a line of JSON, and its answer.
struct QuestionTarget: MutatingFuzzTarget {
    private let recorded: FuzzedLedger
    private let ledger: Ledger
    let mutation: JSONMutation
    private let questions: [JSONValue]

    /// Histories to ask about.
    private static let histories: Range<UInt64> = 1..<6
    private static let instants = [
        "now", "-36h", "+30d", "2026-01-05", "2026-03-01T12:00:00+05:30", "-9223372036854775807w",
        "2199-12-31T23:59:59.999Z", "1999-12-31T23:59:59Z",
    ]

    init() throws {
        recorded = try FuzzedLedger(histories: Self.histories)
        ledger = try recorded.ledger()
        questions = recorded.customers.map { customer in
            .members([
                "customer": .string(customer.text), "at": "2026-02-01T00:00:00Z",
                "knownSequence": .integer(7), "environment": "production",
            ])
        }
        mutation = JSONMutation(
            wordsOf: questions,
            and: .members([
                "at": .strings(Self.instants), "known": .strings(Self.instants),
                "environment": .strings(["sandbox", "local"]),
                "customer": .strings(
                    recorded.customers.map(\.text) + ["nobody", "a/b", "\u{212B}"]
                ),
            ])
        )
    }

    func seeds() -> [[UInt8]] { questions.map { Array($0.description.utf8) } }

    func run(_ input: [UInt8]) {
        guard let json = try? JSONValue(parsing: input),
            let question = try? CustomerQuestion(
                json,
                environment: .production,
                point: BitemporalPoint(at: FuzzedLedger.now, knownAt: .everything),
                now: FuzzedLedger.now
            )
        else { return }
        do {
            let answer = try ledger.questions.show(question).json
            demand(
                answer["customer"]?.string.flatMap { CustomerID($0) } == question.customer,
                "the answer is about who is asked"
            )
            demand(
                answer["at"]?.string.flatMap(Instant.init(rfc3339:)) == question.point.at
                    || !question.point.at.isPlausible,
                "the answer is of the instant"
            )
            demand(try ledger.questions.show(question).json == answer, "a question has one answer")
            PlantedFault.strike(
                question.environment == .sandbox && question.point.knownAt == .sequence(5)
            )
        } catch let fault as LedgerFault {
            demand(fault.code == .unknownSequence, "a refusal is of the prefix")
        } catch {
            fatalError("does not hold: a question is answered: \(error)")
        }
    }
}
