import Entitlements
import EventLog

/// Records decided submissions in their order up to the first that is refused.
///
/// Nobody stands in a group behind one that may be refused: a repeat, which may say something else,
/// or one whose recorded time is to be kept (E1, T3).
struct UntilRefused {
    private let pipeline: Pipeline
    private var receipts: [Receipt] = []
    /// Not handed in yet, in their order.
    private var waiting: [DecidedSubmission] = []
    private var waitingSignals: Set<SignalDigest> = []
    /// The recorded time that those that wait come to.
    private var waitingRecordedAt = Int64.min

    init(_ pipeline: Pipeline) { self.pipeline = pipeline }

    /// Records; the last receipt may be a refusal, and then nothing behind it is recorded.
    mutating func record(_ submissions: [DecidedSubmission]) throws -> [Receipt] {
        for submission in submissions {
            let isAlone = try mayBeRefused(submission)
            if try isAlone && !recordWaiting() { return receipts }
            wait(submission)
            if try isAlone && !recordWaiting() { return receipts }
        }
        _ = try recordWaiting()
        return receipts
    }

    private func mayBeRefused(_ submission: DecidedSubmission) throws -> Bool {
        guard let sealed = submission.decision.submission else { return submission.refusal != nil }
        if waitingSignals.contains(sealed.signal) { return true }
        guard let recordedAt = sealed.recordedAt else { return false }
        let last = try max(waitingRecordedAt, pipeline.questions.log.end().lastRecordedAt)
        return recordedAt < last || recordedAt > pipeline.clock().milliseconds
    }

    private mutating func wait(_ submission: DecidedSubmission) {
        waiting.append(submission)
        guard let sealed = submission.decision.submission else { return }
        waitingSignals.insert(sealed.signal)
        waitingRecordedAt = max(
            waitingRecordedAt,
            sealed.recordedAt ?? pipeline.clock().milliseconds
        )
    }

    /// Hands in those that wait; false: the last of them is refused.
    private mutating func recordWaiting() throws -> Bool {
        receipts += try pipeline.record(waiting)
        waiting.removeAll(keepingCapacity: true)
        waitingSignals.removeAll(keepingCapacity: true)
        waitingRecordedAt = .min
        guard case .refused? = receipts.last else { return true }
        return false
    }
}

extension Pipeline {
    /// Records submissions that were decided ahead, in their order; a receipt for each.
    func record(_ submissions: [DecidedSubmission]) throws -> [Receipt] {
        try record(submissions.lazy.map(\.proposal), decided: submissions.lazy.map(\.decision))
    }
}
