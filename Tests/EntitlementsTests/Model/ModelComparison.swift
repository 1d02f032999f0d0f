import Encodings
import Entitlements
import Foundation
import ModelSupport
import Testing

@Suite struct ModelComparison {
    // Law 3, law 8: one timeline for a prefix, asked at any T, and what the rules say.
    @Test
    func `the fold answers random histories as the obvious model does`() throws {
        let environment = ProcessInfo.processInfo.environment
        let count = environment["ENTITLE_HISTORIES"].flatMap(UInt64.init) ?? 1000
        let first = environment["ENTITLE_SEED"].flatMap(UInt64.init) ?? .random(in: 0 ... .max)
        for offset in 0..<count {
            let history = RandomHistory(seed: first &+ offset)
            for question in history.questions {
                let log = Array(history.log.prefix(question.prefix))
                guard let difference = Difference(log: log, question: question) else { continue }
                Issue.record("\(difference.shrunk().report(seed: history.seed))")
                return
            }
        }
    }

    // Law 7, T5: order of arrival decides nothing but ties and links, and what an erasure is told
    // before (C1).
    @Test func `arrival order does not matter`() {
        for seed: UInt64 in 1...60 {
            let history = RandomHistory(seed: seed)
            let log = history.log.filter { $0.kind != .customerErased }.withoutTies
            var random = SplitMix64(seed: seed ^ 0xA5A5)
            let permuted = log.permuted(using: &random)
            for question in history.questions {
                let answers = [log, permuted].map {
                    SlowModel(log: $0).show(
                        customer: question.customer.text,
                        environment: question.environment,
                        at: question.at
                    )
                }
                #expect(answers[0] == answers[1], "seed \(seed)")
                let fast = fastShow(
                    log: permuted,
                    customer: question.customer.text,
                    environment: question.environment,
                    at: question.at
                )
                #expect(fast == nil || fast == answers[0], "the fold, seed \(seed)")
            }
        }
    }
}

/// A history on which the two implementations do not agree.
private struct Difference {
    var log: [RecordedEvent]
    var question: RandomQuestion
    var slow: JSONValue
    var fast: JSONValue?

    /// Nil if they agree.
    init?(log: [RecordedEvent], question: RandomQuestion) {
        slow = SlowModel(log: log).show(
            customer: question.customer.text,
            environment: question.environment,
            at: question.at
        )
        fast = fastShow(
            log: log,
            customer: question.customer.text,
            environment: question.environment,
            at: question.at
        )
        if slow == fast { return nil }
        self.log = log
        self.question = question
    }

    /// Without every event that is not needed for them to differ.
    func shrunk() -> Difference {
        for index in log.indices {
            var rest = log
            rest.remove(at: index)
            let renumbered = rest.enumerated().map { place, recorded in
                RecordedEvent(
                    sequence: UInt64(place),
                    recordedAt: recorded.recordedAt,
                    event: recorded.event
                )
            }
            if let smaller = Difference(log: renumbered, question: question) {
                return smaller.shrunk()
            }
        }
        return self
    }

    func report(seed: UInt64) -> String {
        let lines = log.map(\.json.description).joined(separator: "\n")
        let members = (slow.members ?? []).filter { fast?[$0.name] != $0.value }.map { member in
            "  \(member.name)\n    slow \(member.value)\n    fast \(fast?[member.name] ?? .null)"
        }
        return """
            ENTITLE_SEED=\(seed): \(question.customer) in \(question.environment.name) \
            at \(question.at)
            \(lines)
            slow \(slow)
            fast \(fast?.description ?? "nothing")
            they differ in
            \(members.joined(separator: "\n"))
            """
    }
}
