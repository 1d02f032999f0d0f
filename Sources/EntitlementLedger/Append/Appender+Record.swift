import Dispatch
public import Entitlements
import EventLog
import Synchronization

extension Appender {
    /// Records a submission: all of its events or none (E2), durably when this returns (E3).
    ///
    /// - Returns: what became of it; a refusal is a value.
    /// - Throws: `LedgerFault`, `LogStorageFault`.
    public func record(_ submission: Submission) throws -> Receipt {
        try record([submission])[0]
    }

    /// Records submissions in their order, in one commit as a rule.
    public func record(
        _ submissions: [Submission],
        recordedAt: [Instant?]? = nil
    ) throws -> [Receipt] {
        try record(decide(submissions, recordedAt: recordedAt))
    }

    /// Records submissions in their order up to the first that is refused, whose receipt is the
    /// last; nothing behind it is recorded.
    public func recordUntilRefused(
        _ submissions: [Submission],
        recordedAt: [Instant?]? = nil
    ) throws -> [Receipt] {
        try record(decide(submissions, recordedAt: recordedAt), untilRefused: true)
    }

    /// Records decided submissions in their order.
    ///
    /// `untilRefused`: whether the receipt of the first that is refused is the last, and nothing
    /// behind it is recorded.
    package func record(
        _ submissions: [DecidedSubmission],
        untilRefused: Bool = false
    ) throws -> [Receipt] {
        guard untilRefused else { return try pipeline.record(submissions[...]) }
        var recording = UntilRefused(pipeline)
        return try recording.record(submissions)
    }

    /// Parts in which submissions are decided and sealed at once.
    private static let partCount = 2
    /// Fewer are not worth a second thread.
    private static let parallelThreshold = 64

    private func decide(
        _ submissions: [Submission],
        recordedAt: [Instant?]?
    ) throws -> [DecidedSubmission] {
        @Sendable func decided(_ range: Range<Int>) throws -> [DecidedSubmission] {
            let batch = BatchLinks()
            return try range.map {
                try decide(submissions[$0], recordedAt: recordedAt?[$0], in: batch)
            }
        }
        let count = submissions.count
        // A link is decided behind those before it (C2).
        guard count >= Self.parallelThreshold, submissions.allSatisfy(\.links.isEmpty) else {
            return try decided(0..<count)
        }
        let parts = Mutex<[Result<[DecidedSubmission], any Error>]>(
            Array(repeating: .success([]), count: Self.partCount)
        )
        DispatchQueue.concurrentPerform(iterations: Self.partCount) { part in
            let range = count * part / Self.partCount..<count * (part + 1) / Self.partCount
            let result = Result { try decided(range) }
            parts.withLock { $0[part] = result }
        }
        return try parts.withLock { try $0.flatMap { try $0.get() } }
    }

    /// Records one submission together with whoever else is waiting (group commit).
    public func record(concurrently submission: Submission) async throws -> Receipt {
        try await record(concurrently: submission, on: DispatchPool())
    }

    /// Records a submission on a pool of the caller's, which does what reads, compresses and seals.
    public func record(
        concurrently submission: Submission,
        on pool: some BlockingPool
    ) async throws -> Receipt {
        try await pipeline.record(
            concurrently: SubmissionProposal(submission: submission),
            on: pool
        )
    }
}
