import Encodings
import EntitlementLedger
import Entitlements
import ModelSupport

/// Keeps what callers and readers were told, and holds it against the log.
struct SimulatedWitness {
    /// A call as the log knows it: one id of one source.
    private struct Known: Hashable {
        var id: String
        var source: String

        init(_ call: SimulatedCalls.Call) { (id, source) = (call.id, call.source) }

        /// An event's: those of one signal are numbered behind its id.
        init(_ event: Event) {
            id = String(event.id.prefix { $0 != "#" })
            source = event.source
        }
    }

    private struct Standing {
        var first: UInt64
        var count: Int?
    }

    private var standing: [Known: Standing] = [:]
    /// How many events a signal has at least, without what was decided.
    private var leastCounts: [Known: Int] = [:]
    private var untold: Set<Known> = []
    private var mustNotStand: Set<Known> = []
    private var log: [RecordedEvent] = []
    private var answers: [(question: CustomerQuestion, answer: JSONValue)] = []

    // MARK: What was said

    /// A call is made: whatever becomes of it, it is whole.
    mutating func willCall(_ call: SimulatedCalls.Call) {
        leastCounts[Known(call)] = call.leastCount
    }

    /// E1, E3: what was told once stands, and is told again.
    mutating func wasTold(_ receipt: Receipt, _ call: SimulatedCalls.Call) throws {
        let known = Known(call)
        let wasUntold = untold.remove(known) != nil
        mustNotStand.remove(known)
        switch receipt {
        case .appended(let first, let count):
            if let before = standing[known] {
                throw SimulationFailure("\(call.id) stands at \(before.first) and at \(first)")
            }
            standing[known] = Standing(first: first, count: count)
        case .duplicate(let first):
            if let before = standing[known], before.first != first {
                throw SimulationFailure("\(call.id) stands at \(before.first), not at \(first)")
            }
            if standing[known] == nil { standing[known] = Standing(first: first) }
        case .known, .refused:
            if standing[known] != nil {
                throw SimulationFailure("\(call.id) stands and is answered \(receipt)")
            }
            if !wasUntold { mustNotStand.insert(known) }
        }
    }

    /// A caller that was answered with a fault, or not at all.
    mutating func wasNotTold(_ call: SimulatedCalls.Call, maybeStands: Bool) {
        let known = Known(call)
        guard standing[known] == nil else { return }
        if maybeStands {
            mustNotStand.remove(known)
            untold.insert(known)
        } else if !untold.contains(known) {
            mustNotStand.insert(known)
        }
    }

    /// The model is slow: between two looks at the log a few answers are kept.
    mutating func wasAnswered(_ answer: JSONValue, _ question: CustomerQuestion) {
        guard answers.count < Self.answerLimit else { return }
        answers.append((question, answer))
    }

    private static let answerLimit = 3

    /// Whether somebody waits to be told what became of a call.
    func isWaiting(_ call: SimulatedCalls.Call) -> Bool {
        untold.contains(Known(call)) || mustNotStand.contains(Known(call))
    }

    // MARK: What stands

    /// Holds the whole log against what was said, and against what it was before.
    mutating func check(_ now: [RecordedEvent]) throws {
        // E3, law 2: what was read once stands; nothing before it changes.
        for (before, after) in zip(log, now) where before != after {
            throw SimulationFailure("record \(before.sequence) is another than before")
        }
        if now.count < log.count {
            throw SimulationFailure("the log had \(log.count) events and has \(now.count)")
        }
        let known = log.count
        log = now
        try checkOrder()
        try checkSubmissions()
        try checkDecisions(from: known)
    }

    /// T3: recorded time never goes back.
    private func checkOrder() throws {
        for (before, after) in zip(log, log.dropFirst()) where after.recordedAt < before.recordedAt
        {
            throw SimulationFailure("recorded time goes back at \(after.sequence)")
        }
    }

    private func checkSubmissions() throws {
        var found: [Known: Standing] = [:]
        var ids: Set<Known> = []
        for recorded in log {
            let known = Known(recorded.event)
            var whole = known
            whole.id = recorded.event.id
            // E1: one id, one event.
            guard ids.insert(whole).inserted else {
                throw SimulationFailure("\(whole.id) stands twice")
            }
            guard let before = found[known] else {
                found[known] = Standing(first: recorded.sequence, count: 1)
                continue
            }
            // E2: together.
            let count = before.count ?? 0
            guard before.first + UInt64(count) == recorded.sequence else {
                throw SimulationFailure("the events of \(known.id) are torn apart")
            }
            found[known]?.count = count + 1
        }
        for (known, standing) in standing {
            guard let there = found[known], there.first == standing.first,
                standing.count == nil || standing.count == there.count
            else { throw SimulationFailure("\(known.id) was acknowledged and is not there") }
        }
        for (known, there) in found where there.count ?? 0 < leastCounts[known, default: 1] {
            throw SimulationFailure("\(known.id) stands in part")
        }
        for known in mustNotStand where found[known] != nil {
            throw SimulationFailure("\(known.id) was refused and stands")
        }
        // The ledger keeps by itself that a claim was refused (Stores, rule 7).
        for known in found.keys
        where standing[known] == nil && !untold.contains(known)
            && !known.id.hasPrefix("claim_refused/")
        {
            throw SimulationFailure("\(known.id) stands and nobody was told")
        }
    }

    // MARK: What was decided

    /// E4: each decision was right where it stands.
    private func checkDecisions(from first: Int) throws {
        for recorded in log[first...] {
            try OwnerChangeLaw(log).check(recorded)
            // What a store says is never decided (T5).
            guard recorded.event.source == Source.app,
                case .customer(let customer) = recorded.event.subject
            else { continue }
            let before = log[..<Int(recorded.sequence)]
            switch recorded.kind {
            case .trialStarted: try checkTrial(recorded, of: customer, before)
            case .usageRecorded: try checkUse(recorded, by: customer, before)
            case .customerClaimed: try checkClaim(recorded, before)
            case .customerLinked:
                let links = links(before, recorded.event.environment)
                let alias = recorded.event.data.text(.alias) ?? ""
                if links.end(of: customer.text) == links.end(of: alias) {
                    throw SimulationFailure("the link at \(recorded.sequence) says nothing new")
                }
            default: break
            }
        }
    }

    /// C1: under keep only what nobody owns.
    private func checkClaim(
        _ recorded: RecordedEvent,
        _ before: ArraySlice<RecordedEvent>
    ) throws {
        let model = SlowModel(log: Array(before))
        let later = recorded.event.time.advanced(byMilliseconds: 400 * Instant.millisecondsPerDay)
        for customer in SimulatedCalls.customers {
            let state = model.show(
                customer: customer.text,
                environment: recorded.event.environment,
                at: later
            )
            let owned = (state["purchases"]?.array ?? []).compactMap { $0["purchase"]?.string }
            guard let purchase = recorded.event.data.text(.purchase), !owned.contains(purchase)
            else { throw SimulationFailure("the claim at \(recorded.sequence) is a second") }
        }
    }

    /// C4: once for each customer and trial.
    private func checkTrial(
        _ recorded: RecordedEvent,
        of customer: CustomerID,
        _ before: ArraySlice<RecordedEvent>
    ) throws {
        let links = links(before, recorded.event.environment)
        let isUsed = before.contains { earlier in
            guard earlier.kind == .trialStarted,
                earlier.event.environment == recorded.event.environment,
                earlier.event.data.text(.trialID) == recorded.event.data.text(.trialID),
                case .customer(let other) = earlier.event.subject
            else { return false }
            return links.end(of: other.text) == links.end(of: customer.text)
        }
        if isUsed { throw SimulationFailure("the trial at \(recorded.sequence) is a second") }
    }

    /// C5: never over.
    private func checkUse(
        _ recorded: RecordedEvent,
        by customer: CustomerID,
        _ before: ArraySlice<RecordedEvent>
    ) throws {
        let feature = SlowModel(log: Array(before)).show(
            customer: customer.text,
            environment: recorded.event.environment,
            at: recorded.event.time
        )["features"]?[recorded.event.data.text(.featureID) ?? ""]
        guard feature?["allowed"]?.bool == true,
            feature?["limit"]?["remaining"]?.integer ?? 1 > 0
        else { throw SimulationFailure("the use at \(recorded.sequence) is over the limit") }
    }

    private func links(_ log: ArraySlice<RecordedEvent>, _ world: StoreEnvironment) -> SlowLinks {
        var links = SlowLinks()
        for recorded in log where recorded.kind == .customerLinked {
            guard case .customer(let name) = recorded.event.subject,
                recorded.event.environment == world,
                let alias = recorded.event.data.text(.alias)
            else { continue }
            links.add(alias: alias, name: name.text)
        }
        return links
    }

    // MARK: What was answered

    /// Every answer is the model's over the prefix that it names.
    mutating func checkAnswers(_ log: [RecordedEvent]) throws {
        for (question, answer) in answers {
            let size = Int(answer["sequence"]?.integer ?? -1)
            guard log.indices.contains(size - 1) || size == 0 else {
                throw SimulationFailure("an answer from \(size) events, of which some are gone")
            }
            let model = SlowModel(log: Array(log.prefix(size))).show(
                customer: question.customer.text,
                environment: question.environment,
                at: question.point.at
            )
            let rest = (answer.members ?? []).filter {
                !["known", "sequence", "token"].contains($0.name)
            }
            guard JSONValue.object(rest) == model else {
                throw SimulationFailure("the model says \(model), the ledger \(answer)")
            }
        }
        answers = []
    }
}
