/// Until when an explanation stands (Z15).
extension Explainer {
    /// The first instant behind T at which something of an explanation may be told otherwise without a
    /// new event; nil: never.
    ///
    /// It may be earlier than needed: each instant at which something changes counts, whether it is told
    /// or not. What a view does not show counts for nothing.
    func validUntil(of explanation: Explanation, to view: CustomerView) -> Instant? {
        var instants = timeline.changeInstants
        // A step may tell what becomes of a purchase while it is another's.
        for purchase in timeline.purchases {
            let all = purchase.timeline.boundaries + purchase.owners.changes.map(\.time)
            instants += all.filter { view.shows($0, about: purchase.timeline.number) }
            // Whether it is somebody's is told to whoever owned it.
            let changes = purchase.owners.changes
            let before = [purchase.owners.first] + changes.map(\.owner)
            for (owner, change) in zip(before, changes)
            where (owner == nil) != (change.owner == nil) {
                instants.append(change.time)
            }
        }
        // What is withdrawn as it begins has no stretch.
        instants += timeline.grants.map(\.interval.start) + timeline.trials.map(\.interval.start)
        if let resetsAt = explanation.decision?.limit?.resetsAt { instants.append(resetsAt) }
        instants += explanation.wouldChange.compactMap { change in
            // Without what says who owns a purchase, the times of others would count.
            let isOwn = change.sequence.flatMap(fact).map {
                $0.other == nil && view.shows($0.time, about: $0.subject)
            }
            return view.isWhole || isOwn == true ? change.isDecisiveUntil : nil
        }
        return instants.filter { $0 > explanation.at }.min()
    }
}
