extension Explanation {
    /// The explanation as a view shows it (Stores, rule 7).
    ///
    /// `isShown`: whether the view shows the event at a sequence.
    package func shown(
        to view: CustomerView,
        isShown: (_ sequence: UInt64) -> Bool
    ) -> Explanation {
        guard !view.isWhole else { return self }
        var shown = self
        shown.steps = steps.compactMap { step in
            var step = step
            if let sequence = step.sequence, !isShown(sequence) {
                // That it is another's is theirs to know, not by which event and since when.
                guard case .notOwned = step.effect else { return nil }
                (step.sequence, step.time, step.firstSequence) = (nil, nil, nil)
            }
            if let first = step.firstSequence, !isShown(first) { step.firstSequence = nil }
            guard let effect = view.shown(step.effect, step.topic, step.time, at: at) else {
                return nil
            }
            step.effect = effect
            step.topic = view.shown(step.topic, at: at)
            return step
        }
        shown.wouldChange = wouldChange.compactMap { change in
            var change = change
            if case .purchase(let number, _, _) = change.topic, !view.shows(at, about: number) {
                guard case .claim = change.kind else { return nil }
                // Without the event everything else counts that is another's.
                change.isDecisive = nil
            }
            if let sequence = change.sequence, !isShown(sequence) { change.sequence = nil }
            change.topic = view.shown(change.topic, at: at)
            return change
        }
        shown.notUsed = notUsed.compactMap { unused in
            var unused = unused
            if let sequence = unused.sequence, !isShown(sequence) { return nil }
            switch unused.reason {
            // How much there is of another environment counts others' events, too.
            case .environment: return nil
            case .blocked(let effect):
                guard let effect = view.shown(effect, unused.topic, nil, at: at) else {
                    return nil
                }
                unused.reason = .blocked(effect)
            default: break
            }
            unused.topic = view.shown(unused.topic, at: at)
            return unused
        }
        return shown
    }
}

extension CustomerView {
    /// A purchase that is another's at T is named, and no more.
    fileprivate func shown(
        _ topic: Explanation.Topic,
        at instant: Instant
    ) -> Explanation.Topic {
        guard case .purchase(let number, _, _) = topic, !shows(instant, about: number) else {
            return topic
        }
        return .purchase(number, productID: nil, kind: nil)
    }

    /// An effect with instants of the customer's stretches alone; nil: it is not shown.
    ///
    /// `time`: when it sets in. What the event itself states stands as it does in the event.
    fileprivate func shown(
        _ effect: Explanation.Effect,
        _ topic: Explanation.Topic,
        _ time: Instant?,
        at instant: Instant
    ) -> Explanation.Effect? {
        guard case .purchase(let number, _, _) = topic else { return effect }
        if case .notOwned = effect { return effect }
        guard shows(instant, about: number) else { return nil }
        func until(_ end: Instant?) -> Instant? { cut(end, of: number, at: time ?? instant) }
        switch effect {
        case .expired(let at), .followed(let at), .ended(let at), .startsLater(let at),
            .graceEnded(let at):
            return shows(at, about: number) ? effect : nil
        case .leeway(let end):
            guard time.map({ shows($0, about: number) }) ?? true else { return nil }
            return .leeway(until: until(end))
        case .handedOn(let end):
            return .handedOn(until: end.flatMap { shows($0, about: number) ? $0 : nil })
        case .formerPlan(let isIncluded, let start, let end):
            guard shows(start, about: number) else { return nil }
            return .formerPlan(isIncluded: isIncluded, start: start, end: until(end))
        case .continued(let start, let end):
            return .continued(start: start, end: until(end))
        // What ends a grace early may be another owner's.
        case .grace(let end): return .grace(until: until(end))
        case .paused(let end): return .paused(until: until(end))
        case .revoked(let isRefund, let end):
            return .revoked(isRefund: isRefund, until: until(end))
        default: return effect
        }
    }
}
