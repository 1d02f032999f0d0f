import Entitlements
import EventLog

/// An answer of a store that was recorded before, word for word.
///
/// It is named by what it says. Where its source has said something else since, it says that what was
/// so before is so again: recorded under its name and the place where it was recorded last, which the
/// same answer leads to however often it is handed in. Another source that says something else is no
/// reason: two that never agree would fill the log.
struct RepeatedAnswer {
    private let pipeline: Pipeline
    /// The same under the name by which it would be recorded again.
    private let again: Submission
    /// Whether something else stands under that name.
    private let isTaken: Bool
    /// Where it was recorded last.
    private let last: UInt64
    /// Events of the log that it is held against.
    let size: UInt64

    /// `first`: where it was recorded first.
    init(_ answer: Submission, recordedAt first: UInt64, _ pipeline: Pipeline) throws {
        self.pipeline = pipeline
        size = try pipeline.questions.log.end().size
        var (again, last, isTaken) = (answer, first, false)
        while true {
            again.id = "\(answer.id)/\(last)"
            guard let next = try pipeline.sequence(of: pipeline.signal(of: again)) else { break }
            // An imported event may have any id: what does not lead on is where it ends.
            isTaken = next <= last
            if isTaken { break }
            last = next
        }
        (self.again, self.last, self.isTaken) = (again, last, isTaken)
    }

    /// The answer to be recorded again; nil: its source has said nothing else since.
    func news() throws -> Submission? { try !isTaken && isNews() ? again : nil }

    private func isNews() throws -> Bool {
        // Fits: a log's size has 64 bits.
        let own = last..<last + UInt64(again.drafts.count)
        var reader = try DecisionReader(pipeline, again.environment)
        for (subject, drafts) in Dictionary(grouping: again.drafts, by: \.subject) {
            // Of whom nothing is known any more nothing is asked: that would give the name a number again.
            let name = StreamName(subject, in: again.environment)
            guard case .purchase(let purchase) = subject, try pipeline.vault.stream(of: name) != nil
            else { continue }
            let (stream, known) = try reader.facts(ofPurchase: purchase)
            let restated = try RestatedFacts(ofPurchase: stream, known, pipeline)
            if try restated.differ(from: drafts, besides: own, source: again.source) { return true }
        }
        return false
    }
}

extension RestatedFacts {
    /// Whether one of these drafts stands against what its source said last, says something else and was
    /// observed later.
    ///
    /// `own`: where they were recorded last.
    fileprivate func differ(
        from drafts: [EventDraft],
        besides own: Range<UInt64>,
        source: String
    ) throws -> Bool {
        try drafts.contains { draft in
            let against = known.filter {
                $0.kind.standsAgainst(draft.kind) && concerns($0, draft)
            }
            for fact in against.sorted(by: { $0.isNewer(than: $1) }) {
                // What is said of another token of one purchase is answered by that token's answer.
                guard let event = try pipeline.questions.event(at: fact.sequence)?.event,
                    event.source == source, event.subject == draft.subject
                else { continue }
                return !own.contains(fact.sequence) && fact.observedAt < draft.observedAt
                    && differs(event.draft, from: draft)
            }
            return false
        }
    }

    /// Whether what was said leaves something else than what is said now, whenever both hold.
    private func differs(_ said: EventDraft, from now: EventDraft) -> Bool {
        let (end, nextEnd) = (said.data.instant(.expiresAt), now.data.instant(.expiresAt))
        switch (said.kind, now.kind) {
        case let (said, now) where said.statesEnd && now.statesEnd && said != now:
            return end != nextEnd
        // An end by then takes nothing from what ends by then (P2).
        case (.purchaseExpired, let kind) where kind.statesEnd:
            return nextEnd.map { said.time < $0 } ?? true
        case (let kind, .purchaseExpired) where kind.statesEnd:
            return end.map { now.time < $0 } ?? true
        case (.purchaseExpired, .purchaseExpired) where now.time < said.time: return true
        default:
            var same = now
            (same.time, same.observedAt) = (said.time, said.observedAt)
            return !same.differences(from: said).isEmpty
        }
    }
}

extension EventKind {
    /// Whether what one says of a purchase may leave nothing of what the other said.
    fileprivate func standsAgainst(_ other: EventKind) -> Bool {
        Self.matters.contains { $0.contains(self) && $0.contains(other) }
    }

    /// An end (P2), grace and retries (P4, P9), pauses (P5), revocations (P6), what is not paid (P9), and
    /// renewal (P10).
    private static let matters: [Set<EventKind>] = [
        [.purchaseCompleted, .purchaseRenewed, .purchaseExtended, .purchaseExpired],
        [.purchaseGraceStarted, .purchaseRetryStarted, .purchaseExpired],
        [.purchasePaused, .purchaseResumed],
        [.revocationRefunded, .revocationRevoked, .revocationReversed],
        [.purchasePending, .purchaseAbandoned],
        [.purchaseRenewalChanged],
    ]

    /// Whether such an event says when a period ends (P2).
    fileprivate var statesEnd: Bool { givesPeriod || self == .purchaseExtended }
}
