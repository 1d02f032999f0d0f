import Entitlements
import EventLog

/// Records decided submissions in their order up to the first that is refused.
///
/// Nobody stands in a group behind one that may be refused: a repeat, which may say something else,
/// or one whose recorded time is to be kept (E1, T3).
struct UntilRefused {
    private let pipeline: Pipeline
    private var receipts: [Receipt] = []
    /// The signals of those that wait to be handed in.
    private var waitingSignals: Set<SignalDigest> = []
    /// The latest recorded time that one of them keeps.
    private var keptRecordedAt = Int64.min
    /// Whether one of them is recorded by the clock.
    private var waitsByClock = false

    init(_ pipeline: Pipeline) { self.pipeline = pipeline }

    /// Records; where a receipt is a refusal, nothing is recorded behind those handed in with it.
    mutating func record(_ submissions: [DecidedSubmission]) throws -> [Receipt] {
        var first = 0
        for index in submissions.indices {
            if try mayBeRefused(submissions[index]) {
                guard try record(waiting: submissions[first..<index]),
                    try record(waiting: submissions[index...index])
                else { return receipts }
                first = index + 1
            } else {
                wait(submissions[index])
            }
        }
        _ = try record(waiting: submissions[first...])
        return receipts
    }

    private mutating func mayBeRefused(_ submission: DecidedSubmission) throws -> Bool {
        guard let sealed = submission.decision.submission else { return submission.refusal != nil }
        let isRequest = submission.proposal.submission.nature == .request
        // E1: of a request each event's id may be taken.
        let decisive = isRequest ? sealed.records[...] : sealed.records.prefix(1)
        let isRepeat = decisive.contains { waitingSignals.contains($0.signal) }
        // A repeat may name any event of theirs.
        for record in sealed.records { waitingSignals.insert(record.signal) }
        if isRepeat { return true }
        // It was decided ahead: an id of it may stand by now, and then other content is a conflict (E1).
        if isRequest, try decisive.contains(where: { try pipeline.sequence(of: $0.signal) != nil })
        {
            return true
        }
        guard let recordedAt = sealed.recordedAt else { return false }
        let now = pipeline.clock().milliseconds
        let last = try pipeline.questions.log.end().lastRecordedAt
        return recordedAt < max(last, keptRecordedAt, waitsByClock ? now : .min)
            || recordedAt > now
    }

    private mutating func wait(_ submission: DecidedSubmission) {
        guard let sealed = submission.decision.submission else { return }
        if let kept = sealed.recordedAt {
            keptRecordedAt = max(keptRecordedAt, kept)
        } else {
            waitsByClock = true
        }
    }

    /// Hands in those that wait; false: one of them is refused.
    private mutating func record(waiting: ArraySlice<DecidedSubmission>) throws -> Bool {
        let recorded = try pipeline.record(waiting)
        receipts += recorded
        waitingSignals.removeAll(keepingCapacity: true)
        (keptRecordedAt, waitsByClock) = (.min, false)
        // One that somebody else's append overtook may stand anywhere among them.
        return recorded.allSatisfy { receipt in
            if case .refused = receipt { return false }
            return true
        }
    }
}

extension Pipeline {
    /// Records submissions that were decided ahead, in their order; a receipt for each.
    func record(_ submissions: ArraySlice<DecidedSubmission>) throws -> [Receipt] {
        try record(submissions.lazy.map { $0.decision }) { place in
            submissions[submissions.startIndex + place].proposal
        }
    }
}
