import Encodings
import EntitlementLedger
import Entitlements
import Foundation
import ModelSupport
import Testing

/// Random histories that go in through the ledger and are asked there.
struct `A ledger answers random histories` {
    static let environment = ProcessInfo.processInfo.environment
    static let count = environment["ENTITLE_LEDGER_HISTORIES"].flatMap(UInt64.init) ?? 60
    static let firstSeed =
        environment["ENTITLE_SEED"].flatMap(UInt64.init) ?? .random(in: 0 ... .max)
    /// Each so many histories the command is asked too.
    static let commandInterval: UInt64 = 10

    // law 4, law 8, T4; row Z1, row 4.2
    @Test func `as the obvious model does, before and after a rebuild`() async throws {
        for offset in 0..<Self.count {
            let play = LedgerPlay(seed: Self.firstSeed &+ offset)
            try await play.run(asksCommand: offset % Self.commandInterval == 0)
            if play.hasFailed { return }
        }
    }
}

/// One history under way.
private final class LedgerPlay {
    let seed: UInt64
    private let log: [RecordedEvent]
    private var random: SplitMix64
    private(set) var hasFailed = false
    private static let questionCount = 10

    /// What is asked, and the size of the prefix that it means.
    private struct Question {
        var asked: CustomerQuestion
        var prefix: Int
    }

    init(seed: UInt64) {
        self.seed = seed
        random = SplitMix64(seed: seed ^ 0x5EED)
        // C6: an import refuses `customer.erased`, so it is left out.
        log = RandomHistory(seed: seed).log.filter { $0.kind != .customerErased }.enumerated()
            .map { index, recorded in
                RecordedEvent(
                    sequence: UInt64(index),
                    recordedAt: recorded.recordedAt,
                    event: recorded.event
                )
            }
    }

    func run(asksCommand: Bool) async throws {
        // Far behind every history: recorded times are kept.
        let clock = TestClock(Instant(milliseconds: 1_893_456_000_000))
        try await ScratchLedger.with(clock: clock) { scratch in
            let earlier = try fill(scratch)
            let questions = (0..<Self.questionCount).map { _ in question() }
            let answers = try questions.map { try answer($0, scratch.ledger) }
            // T4: what was answered before the rest came is answered so of that prefix.
            for (question, answer) in earlier {
                try expect(self.answer(question, scratch.ledger) == answer, "a prefix", question)
            }
            if asksCommand, EntitleCommand.isPresent {
                try await askCommand(scratch.path, questions, answers)
            }
            try scratch.reopenWithoutViews()
            try compare(questions, answers, scratch.ledger, "without views")
            _ = try scratch.ledger.auditor.rebuild()
            try compare(questions, answers, scratch.ledger, "after a rebuild")
            try scratch.reopen()
            try compare(questions, answers, scratch.ledger, "opened again")
        }
    }

    /// Imports event by event or in batches; asks on the way.
    private func fill(_ scratch: ScratchLedger) throws -> [(Question, String)] {
        var asked: [(Question, String)] = []
        let isSingly = random.chance(50)
        var next = 0
        while next < log.count {
            let count = isSingly ? 1 : Int.random(in: 1...max(1, log.count - next), using: &random)
            let batch = log[next..<next + count]
            let receipts = try scratch.ledger.appender.record(
                batch.map { Submission(event: $0.event) },
                recordedAt: batch.map(\.recordedAt)
            )
            let expected = (next..<next + count).map {
                Receipt.appended(first: UInt64($0), count: 1)
            }
            #expect(receipts == expected, "seed \(seed)")
            next += count
            guard random.chance(20) else { continue }
            var question = question()
            question.asked.point.knownAt = .sequence(UInt64(next))
            question.prefix = next
            asked.append((question, try answer(question, scratch.ledger)))
        }
        return asked
    }

    private func question() -> Question {
        let base = RandomHistory(seed: seed ^ random.next(), questions: 1).questions[0]
        var customers: [CustomerID] = ["ann", "bob", "cy", "$anon:1", "dee", "nobody"]
        customers += log.compactMap { recorded in
            guard case .customer(let id) = recorded.event.subject else { return nil }
            return id
        }
        var at = base.at
        if let about = log.randomElement(using: &random), random.chance(90) {
            at = about.time.advanced(byMilliseconds: random.pick([0, 0, 1, -1, 86_400_000]))
        }
        var prefix = log.count
        var known = BitemporalPoint.Known.everything
        switch Int.random(in: 0..<3, using: &random) {
        case 0:
            prefix = Int.random(in: 0...log.count, using: &random)
            known = .sequence(UInt64(prefix))
        case 1:
            guard let last = log.randomElement(using: &random) else { break }
            let instant = last.recordedAt.advanced(byMilliseconds: random.pick([0, 0, -1, 1]))
            prefix = log.count { $0.recordedAt <= instant }
            known = .instant(instant)
        default: break
        }
        return Question(
            asked: CustomerQuestion(
                customer: random.pick(customers),
                environment: base.environment,
                point: BitemporalPoint(at: at, knownAt: known)
            ),
            prefix: prefix
        )
    }

    /// Asks, and compares with the model.
    private func answer(_ question: Question, _ ledger: Ledger) throws -> String {
        let answer = try ledger.questions.show(question.asked).json
        let slow = SlowModel(log: Array(log.prefix(question.prefix))).show(
            customer: question.asked.customer.text,
            environment: question.asked.environment,
            at: question.asked.point.at
        )
        let rest = (answer.members ?? []).filter {
            !["known", "sequence", "token"].contains($0.name)
        }
        try expect(.object(rest) == slow, "the model says \(slow)", question)
        #expect(answer["sequence"]?.integer == Int64(question.prefix), "seed \(seed)")
        return answer.description
    }

    private func compare(
        _ questions: [Question],
        _ answers: [String],
        _ ledger: Ledger,
        _ when: String
    ) throws {
        for (question, answer) in zip(questions, answers) {
            try expect(
                ledger.questions.show(question.asked).json.description == answer,
                when,
                question
            )
        }
    }

    /// Another process, which reads while this one holds the writer's lock.
    private func askCommand(
        _ path: String,
        _ questions: [Question],
        _ answers: [String]
    ) async throws {
        let lines = questions.map { question in
            var members = [
                JSONMember("customer", .string(question.asked.customer.text)),
                JSONMember("environment", .string(question.asked.environment.name)),
                JSONMember("at", .instant(question.asked.point.at)),
            ]
            switch question.asked.point.knownAt {
            case .everything: break
            case .instant(let instant): members.append(JSONMember("known", .instant(instant)))
            case .sequence(let count):
                members.append(JSONMember("knownSequence", .integer(count)))
            }
            return JSONValue.object(members).description + "\n"
        }
        let outcome = try await EntitleCommand.run(
            ["show", "--ledger", path, "--json", "--questions", "-"],
            input: Array(lines.joined().utf8)
        )
        #expect(outcome.code == 0, "seed \(seed): \(outcome.errors)")
        #expect(outcome.output == answers.map { $0 + "\n" }.joined(), "seed \(seed)")
    }

    private func expect(_ isTrue: Bool, _ what: String, _ question: Question) throws {
        guard !isTrue, !hasFailed else { return }
        hasFailed = true
        let events = log.map(\.json.description).joined(separator: "\n")
        Issue.record("ENTITLE_SEED=\(seed): \(question): \(what)\n\(events)")
    }
}
