extension Explanation {
    /// The step that decides, of the source that is nearest to opening the gate or opens it first;
    /// nil: there is no step but what the feature takes.
    package var cause: Step? {
        // What holds the gate open for as long as was said, before what ends earlier.
        if let decision, decision.isAllowed,
            let step = steps.first(where: { $0.effect.openingEnd == .some(decision.until) })
                ?? steps.first(where: { $0.effect.outlasts(decision.until) })
        {
            return step
        }
        guard let nearest = steps.first(where: { weight($0.effect) != nil })?.topic else {
            return nil
        }
        return steps.filter { $0.topic == nearest }.min { left, right in
            guard let left = weight(left.effect) else { return false }
            return weight(right.effect).map { left < $0 } ?? true
        }
    }

    /// How much an effect decides, the most first; nil: it decides nothing.
    private func weight(_ effect: Effect) -> Int? {
        isAllowed ? effect.openingWeight : effect.closingWeight
    }
}

extension Explanation.Effect {
    /// What opens a gate; what holds a period open past its stated end before the period.
    fileprivate var openingWeight: Int? {
        switch self {
        case .grace, .leeway: 0
        case .extended: 1
        case .period, .granted, .trial: 2
        case .isFree: 3
        default: nil
        }
    }

    /// The end of what opens a gate, nil in it: without end; nil: it opens none.
    package var openingEnd: Instant?? {
        switch self {
        case .period(_, let end), .granted(_, let end), .trial(_, let end),
            .continued(_, let end):
            .some(end)
        case .extended(let until), .grace(let until), .leeway(let until): .some(until)
        default: nil
        }
    }

    /// Whether it opens a gate for longer than until an instant, which something else ends.
    fileprivate func outlasts(_ until: Instant?) -> Bool {
        guard let until, let end = openingEnd else { return false }
        return end.map { until < $0 } ?? true
    }

    /// What closes a gate; what somebody did before what only passed.
    fileprivate var closingWeight: Int? {
        switch self {
        case .revoked: 0
        case .failedVerification, .neverVerified: 1
        case .paused, .withdrawn: 2
        case .retrying, .graceEnded: 3
        case .notOwned: 4
        case .expired, .ended, .followed: 5
        case .pending, .abandoned, .nothingBought, .isConsumable, .isUnmapped, .isLocked: 6
        case .startsLater: 7
        case .nothing, .isNotListed: 8
        default: nil
        }
    }
}
