import Dispatch
import Encodings
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
        try record(prepare(submissions, recordedAt: recordedAt))
    }

    /// Records submissions in their order up to the first that is refused, whose receipt is the
    /// last; nothing behind it is recorded.
    public func recordUntilRefused(
        _ submissions: [Submission],
        recordedAt: [Instant?]? = nil
    ) throws -> [Receipt] {
        try record(prepare(submissions, recordedAt: recordedAt), untilRefused: true)
    }

    /// Records prepared submissions in their order.
    ///
    /// `untilRefused`: whether the receipt of the first that is refused is the last, and nothing
    /// behind it is recorded.
    public func record(
        _ submissions: [PreparedSubmission],
        untilRefused: Bool = false
    ) throws -> [Receipt] {
        var recorder = BatchRecorder(self, submissions, stopsAtRefusal: untilRefused)
        return try recorder.record()
    }

    /// Parts in which submissions are prepared at once.
    private static let partCount = 2
    /// Fewer are not worth a second thread.
    private static let parallelThreshold = 64

    private func prepare(
        _ submissions: [Submission],
        recordedAt: [Instant?]?
    ) throws -> [PreparedSubmission] {
        @Sendable func prepared(_ range: Range<Int>) throws -> [PreparedSubmission] {
            let batch = BatchLinks()
            return try range.map {
                try prepare(submissions[$0], recordedAt: recordedAt?[$0], in: batch)
            }
        }
        let count = submissions.count
        guard count >= Self.parallelThreshold else { return try prepared(0..<count) }
        let parts = Mutex<[Result<[PreparedSubmission], any Error>]>(
            Array(repeating: .success([]), count: Self.partCount)
        )
        DispatchQueue.concurrentPerform(iterations: Self.partCount) { part in
            let range = count * part / Self.partCount..<count * (part + 1) / Self.partCount
            let result = Result { try prepared(range) }
            parts.withLock { $0[part] = result }
        }
        return try parts.withLock { try $0.flatMap { try $0.get() } }
    }

    /// Records one submission together with whoever else is waiting (group commit).
    ///
    /// What reads, compresses and seals is done on a pool, so that no thread waits that others share.
    public func record(concurrently submission: Submission) async throws -> Receipt {
        try await record(concurrently: submission, on: DispatchPool())
    }

    /// Records a submission on a pool of the caller's.
    public func record(
        concurrently submission: Submission,
        on pool: some BlockingPool
    ) async throws -> Receipt {
        let state = try await pool.blocking { [self] in
            try Preparation(self).seal(submission, recordedAt: nil)
        }
        switch state {
        case .settled(let receipt): return receipt
        case .sealed(let sealed):
            let outcome = try await writer.append(sealed)
            let read: @Sendable () throws -> Receipt? = { [self] in
                try Preparation(self).receipt(outcome, sealed, submission)
            }
            // Of all outcomes a repetition alone is looked up in the log.
            let receipt =
                if case .duplicate = outcome { try await pool.blocking(read) } else { try read() }
            if let receipt { return receipt }
        }
        return try await writer.alone { [self] append in
            try decideAlone(append) { append in
                let preparation = Preparation(self)
                switch try preparation.seal(submission, recordedAt: nil) {
                case .settled(let receipt): return receipt
                case .sealed(let sealed):
                    return try preparation.receipt(append([sealed])[0], sealed, submission)
                }
            }
        }
    }
}

extension EventDraft {
    /// The attributes in which what is known under the same id differs (E1), by their path.
    func differences(from known: EventDraft) -> [String] {
        var differing: [String] = []
        if kind != known.kind { differing.append("type") }
        if subject != known.subject { differing.append("subject") }
        if time != known.time { differing.append("time") }
        if observedAt != known.observedAt { differing.append("data.observedAt") }
        if data.document?.withoutTimeZones != known.data.document?.withoutTimeZones {
            differing.append("data")
        }
        for field in Field.allCases where data[field] != known.data[field] {
            differing.append("data." + field.name)
        }
        return differing
    }
}

extension JSONValue {
    /// A catalog document as it was handed in, without what publish resolved (K10).
    var withoutTimeZones: JSONValue {
        .object(
            (members ?? []).filter { $0.name != "timeZones" }
                .sorted { $0.name.precedes($1.name) }
        )
    }
}
