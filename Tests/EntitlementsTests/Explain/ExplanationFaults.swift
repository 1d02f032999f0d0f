import Encodings
import Entitlements
import LedgerAPI
import ModelSupport

extension ExplainedQuestion {
    /// What is wrong with the explanation, as the slow model and the log judge it.
    var faults: [String] {
        let known = log.compactMap(\.event.data.document).contains { document in
            document["features"]?.array?.contains { $0["id"]?.string == feature } ?? false
        }
        guard let explanation else { return known ? ["nothing is said"] : [] }
        guard known else { return ["a feature of no catalog is explained"] }
        return decisionFaults(explanation) + eventFaults(explanation)
            + (explanation.isAllowed ? allowedFaults(explanation) : refusedFaults(explanation))
            + decisiveFaults(explanation)
    }

    // MARK: The decision

    private func decisionFaults(_ explanation: Explanation) -> [String] {
        let stated = stated(explanation)
        if expected != stated {
            return ["the model says \(expected ?? .null), the explanation \(stated ?? .null)"]
        }
        if expected == nil { return [] }
        return explanation.steps.isEmpty ? ["there is no step"] : []
    }

    /// The decision as answers write it.
    private func stated(_ explanation: Explanation) -> JSONValue? {
        guard let decision = explanation.decision,
            let access = try? FeatureAccess(decision, names: interned)
        else { return nil }
        return AnswerText(access).json
    }

    // MARK: Events

    /// Each event that is named exists, in this world, and is of a kind that can say so.
    private func eventFaults(_ explanation: Explanation) -> [String] {
        var faults: [String] = []
        for sequence in explanation.sequences {
            guard let recorded = log.first(where: { $0.sequence == sequence }) else {
                faults.append("event \(sequence) is not in the prefix")
                continue
            }
            if recorded.event.environment != environment, recorded.kind != .catalogPublished {
                faults.append("event \(sequence) is of another world")
            }
        }
        for step in explanation.steps {
            guard let sequence = step.sequence,
                let recorded = log.first(where: { $0.sequence == sequence })
            else { continue }
            if !Self.kinds(step.effect).contains(recorded.kind) {
                faults.append("\(recorded.kind) is said to be \(step.effect)")
            }
        }
        return faults
    }

    private static func kinds(_ effect: Explanation.Effect) -> [EventKind] {
        switch effect {
        case .requires, .isFree, .isNotListed, .variant, .unlocks, .unlocksTier, .unlocksAll, .kept,
            .isUnmapped, .isLocked:
            [.catalogPublished]
        case .linkedCustomer: [.customerLinked]
        case .linkedPurchase: [.purchaseLinked]
        case .owned:
            [.customerClaimed, .customerTransferred, .purchaseCompleted, .purchaseRenewed]
        case .handedOn, .notOwned:
            [
                .customerClaimed, .customerTransferred, .customerReleased, .purchaseCompleted,
                .purchaseRenewed,
            ]
        case .period, .followed, .formerPlan: [.purchaseCompleted, .purchaseRenewed]
        case .extended: [.purchaseExtended]
        case .expired: [.purchaseExpired]
        case .grace: [.purchaseGraceStarted]
        case .graceEnded: [.purchaseRetryStarted, .purchaseExpired]
        case .retrying: [.purchaseRetryStarted]
        case .paused: [.purchasePaused]
        case .revoked(isRefund: true, _): [.revocationRefunded]
        case .revoked: [.revocationRevoked]
        case .reversed: [.revocationReversed]
        case .verified: [.verificationPassed]
        case .failedVerification: [.verificationFailed]
        case .accountErased: [.customerErased]
        case .pending: [.purchasePending]
        case .abandoned: [.purchaseAbandoned]
        case .continued: [.purchaseCompleted, .purchaseRenewed, .grantGiven, .trialStarted]
        case .granted: [.grantGiven]
        case .withdrawn: [.grantWithdrawn]
        case .trial: [.trialStarted]
        case .ended, .startsLater, .leeway, .neverVerified, .isConsumable, .nothingBought,
            .nothing, .usedUp:
            []
        }
    }

    // MARK: Yes

    private func allowedFaults(_ explanation: Explanation) -> [String] {
        guard let decision = explanation.decision else { return ["allowed without a decision"] }
        var faults: [String] = []
        let ends = explanation.wouldChange.filter {
            if case .ends = $0.kind { return true }
            return false
        }
        if ends.map(\.time) != (decision.until.map { [$0] } ?? []) {
            faults.append("it ends \(ends.map(\.time)), not \(String(describing: decision.until))")
        }
        guard decision.reason != .free else { return faults }
        faults += causeFaults(explanation, decision)
        let named = Set(explanation.steps.compactMap(\.sequence))
        let enough = log.filter { $0.kind == .catalogPublished || named.contains($0.sequence) }
        if !agrees(slow(enough)) {
            faults.append("the events that are named do not suffice: \(slow(enough) ?? .null)")
        }
        // Of one source each of these is needed.
        for step in explanation.steps where decision.sources.count == 1 && step.isNeeded(in: enough)
        {
            if agrees(slow(enough.filter { $0.sequence != step.sequence })) {
                faults.append("\(step.effect) is not needed")
            }
        }
        return faults + explanation.wouldChange.flatMap { changeFaults($0, opens: false) }
    }

    /// What is said to be the reason lasts as long as the decision, but where everybody has it then.
    private func causeFaults(
        _ explanation: Explanation,
        _ decision: CustomerState.FeatureState
    ) -> [String] {
        guard let cause = explanation.cause?.effect, case .some(.some(let end)) = cause.openingEnd,
            decision.until.map({ end < $0 }) ?? true
        else { return [] }
        let last = decision.until?.advanced(byMilliseconds: -1) ?? .latest
        return slow(log, at: last)?["reason"] == "free"
            ? [] : ["the reason ends \(end), the decision \(String(describing: decision.until))"]
    }

    /// Whether an answer allows by the same reason and sources.
    private func agrees(_ answer: JSONValue?) -> Bool {
        let stated = explanation.flatMap { self.stated($0) }
        return ["allowed", "reason", "sources"].allSatisfy { answer?[$0] == stated?[$0] }
    }

    // MARK: No

    private func refusedFaults(_ explanation: Explanation) -> [String] {
        explanation.wouldChange.flatMap { changeFaults($0, opens: true) }
    }

    /// Doing what is said to be enough must be enough.
    private func changeFaults(_ change: Explanation.Change, opens: Bool) -> [String] {
        if change.kind == .opens {
            guard let time = change.time else { return ["it opens at no time"] }
            let before = time.advanced(byMilliseconds: -1)
            return isAllowed(log, at: time) && !isAllowed(log, at: before)
                ? [] : ["it does not open at \(time)"]
        }
        guard change.isEnough, isThorough, let events = events(doing: change) else { return [] }
        return isAllowed(log(adding: events)) == opens
            ? [] : ["\(change.kind) is said to be enough: \(events)"]
    }

    /// What is said to decide alone does, and what is said not to does not.
    private func decisiveFaults(_ explanation: Explanation) -> [String] {
        explanation.wouldChange.compactMap { change in
            guard let sequence = change.sequence, let isDecisive = change.isDecisive else {
                return nil
            }
            let without = slow(log.filter { $0.sequence != sequence })
            return (without != expected) == isDecisive
                ? nil : "event \(sequence) is said to be decisive: \(isDecisive)"
        }
    }
}

extension Explanation.Step {
    /// Whether the decision of a single source falls without the event.
    fileprivate func isNeeded(in log: [RecordedEvent]) -> Bool {
        switch effect {
        case .verified, .granted, .trial: true
        // Another that is named for its account may give as much.
        case .period: log.count { $0.kind.givesPeriod } == 1
        case .owned:
            // A period that is named may name the owner too.
            log.first { $0.sequence == sequence }?.kind == .customerClaimed
                && !log.contains { $0.event.data[.account] != nil }
        default: false
        }
    }
}
