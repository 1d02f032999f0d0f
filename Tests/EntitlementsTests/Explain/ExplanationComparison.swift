import Encodings
import Entitlements
import Foundation
import ModelSupport
import Testing

// row Z2
@Suite struct ExplanationComparison {
    static let features = ["f1", "f2", "f3", "f4", "f5", "open"]

    /// Questions about random histories, each feature in turn; one in so many is thorough.
    static func questions(
        _ count: Int,
        from first: UInt64,
        thoroughness: Int = 1,
        _ body: (ExplainedQuestion) -> Bool
    ) {
        var asked = 0
        var seed = first
        while true {
            let history = RandomHistory(seed: seed)
            for question in history.questions {
                var explained = ExplainedQuestion(
                    log: Array(history.log.prefix(question.prefix)),
                    customer: question.customer,
                    environment: question.environment,
                    at: question.at,
                    feature: features[asked % features.count]
                )
                asked += 1
                explained.isThorough = asked % thoroughness == 0
                guard body(explained), asked < count else { return }
            }
            seed &+= 1
        }
    }

    // Law 8: a decision and its explanation agree, the events that are named suffice for it and are
    // needed for it, and what is said to change it does.
    @Test(arguments: 0..<4)
    func `explanations of random histories hold before the obvious model`(_ part: UInt64) {
        let environment = ProcessInfo.processInfo.environment
        let count = (environment["ENTITLE_QUESTIONS"].flatMap(Int.init) ?? 10_000) / 4
        let first =
            (environment["ENTITLE_SEED"].flatMap(UInt64.init) ?? .random(in: 0 ... .max))
            &+ part &* 1_000_000
        var (allowed, refused, decisive, enough) = (0, 0, 0, 0)
        Self.questions(count, from: first, thoroughness: 4) { question in
            let faults = question.faults
            guard faults.isEmpty else {
                Issue.record("\(question.shrunk().report(seed: first))")
                return false
            }
            guard let explanation = question.explanation else { return true }
            if explanation.isAllowed { allowed += 1 } else { refused += 1 }
            for change in explanation.wouldChange {
                if change.isDecisive == true { decisive += 1 }
                if change.isEnough, question.events(doing: change) != nil { enough += 1 }
            }
            return true
        }
        // Control: the questions were worth asking.
        #expect(allowed > count / 10 && refused > count / 10)
        #expect(decisive > count / 100 && enough > count / 2)
    }

    // The negative control: whoever says something else is found out.
    @Test(arguments: Lie.allCases)
    func `an explanation that lies is found out`(_ lie: Lie) {
        var (told, found) = (0, 0)
        Self.questions(1600, from: 7) { question in
            var question = question
            guard let explanation = question.explanation, lie.applies(to: explanation) else {
                return true
            }
            question.explanation = lie.told(of: explanation)
            told += 1
            if !question.faults.isEmpty { found += 1 }
            return true
        }
        #expect(told >= lie.least, "\(told) lies were told")
        #expect(found == told, "\(found) of \(told) were found")
    }
}

/// Ways to say something wrong.
enum Lie: CaseIterable {
    case opposite, noSuchEvent, withoutVerification, decisive, enough, otherEnd, otherEvent

    /// How often it can be told at least in the questions that are asked.
    var least: Int { 10 }

    func applies(to explanation: Explanation) -> Bool {
        switch self {
        case .opposite: explanation.decision?.reason == .purchase
        case .noSuchEvent, .otherEvent: explanation.verified != nil
        case .withoutVerification:
            explanation.verified != nil && explanation.decision?.reason == .purchase
        case .decisive: explanation.wouldChange.contains { $0.isDecisive != nil }
        case .enough:
            explanation.decision?.reason == AccessReason.none
                && explanation.wouldChange.contains { $0.kind == .renewal && $0.isEnough }
        case .otherEnd: explanation.decision?.until != nil
        }
    }

    func told(of explanation: Explanation) -> Explanation {
        var lie = explanation
        switch self {
        case .opposite: lie.decision?.reason = .none
        case .noSuchEvent:
            if let place = explanation.verified { lie.steps[place].sequence = 1_000_000 }
        case .otherEvent:
            if let place = explanation.verified {
                lie.steps[place].sequence = explanation.steps.first?.sequence
            }
        case .withoutVerification: lie.steps.removeAll { $0.effect == .verified }
        case .decisive:
            for index in lie.wouldChange.indices { lie.wouldChange[index].isDecisive?.toggle() }
        case .enough:
            for index in lie.wouldChange.indices
            where lie.wouldChange[index].kind == .renewal && lie.wouldChange[index].isEnough {
                lie.wouldChange[index].kind = .verification
            }
        case .otherEnd:
            for index in lie.wouldChange.indices {
                lie.wouldChange[index].time =
                    lie.wouldChange[index].time?.advanced(byMilliseconds: 1)
            }
        }
        return lie
    }
}

extension Explanation {
    fileprivate var verified: Int? { steps.firstIndex { $0.effect == .verified } }
}

extension ExplainedQuestion {
    /// Without every event that is not needed for something to be wrong.
    func shrunk() -> ExplainedQuestion {
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
            let smaller = ExplainedQuestion(
                log: renumbered,
                customer: customer,
                environment: environment,
                at: at,
                feature: feature
            )
            if !smaller.faults.isEmpty { return smaller.shrunk() }
        }
        return self
    }

    func report(seed: UInt64) -> String {
        """
        ENTITLE_SEED=\(seed): \(feature) of \(customer) in \(environment.name) at \(at)
        \(log.map(\.json.description).joined(separator: "\n"))
        \(explanation.map { "\($0)" } ?? "nothing")
        \(faults.joined(separator: "\n"))
        """
    }
}
