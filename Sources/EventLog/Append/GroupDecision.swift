/// Decides a group of waiting submissions against the log as it stands in that instant, and
/// against one another (E4), and lays out the batch that one commit writes.
package struct GroupDecision {
    /// One outcome for each submission, in their order.
    package private(set) var outcomes: [AppendOutcome] = []
    /// What is to be written.
    package private(set) var batch: LogBatch
    private var signals: [SignalDigest: UInt64] = [:]
    /// Kept only where a member relies on a stream.
    private var lastSequences: [UInt64: UInt64] = [:]
    private let reliesOnStreams: Bool
    private let clock: Int64
    /// Streams that were erased since somebody may have sealed for them.
    private let closed: Set<UInt64>
    /// How often reserved streams were given up by now.
    private let surrenders: UInt64

    /// Decides.
    ///
    /// `clock`: the time for T3, milliseconds since 1970. `closed`: streams that a member must not
    /// name any more. `surrenders`: see `NameVault`.
    package init(
        _ group: [SealedSubmission],
        end: LogEnd,
        index: some LogIndex,
        clock: Int64,
        closed: Set<UInt64> = [],
        surrenders: UInt64 = 0
    ) throws {
        self.clock = clock
        self.closed = closed
        self.surrenders = surrenders
        reliesOnStreams = group.contains { !$0.expectations.isEmpty }
        batch = LogBatch(after: end)
        let count = group.reduce(0) { $0 + $1.records.count }
        outcomes.reserveCapacity(group.count)
        signals.reserveCapacity(count)
        batch.reserveCapacity(count)
        for submission in group {
            let outcome = try decide(submission, index)
            if case .appended(let first, let recordedAt) = outcome {
                place(submission, first: first, recordedAt: recordedAt)
            }
            outcomes.append(outcome)
        }
    }

    private func decide(
        _ submission: SealedSubmission,
        _ index: some LogIndex
    ) throws -> AppendOutcome {
        // E1: a signal is looked up by its first event's id.
        if let known = try signals[submission.signal] ?? index.sequence(of: submission.signal) {
            return .duplicate(of: known)
        }
        if let request = submission.request,
            try signals[request] ?? index.sequence(of: request) != nil
        {
            return .stale
        }
        // What it was sealed for may be somebody else's stream by now.
        if submission.surrenders != surrenders { return .stale }
        // C6: an erased stream takes nothing more; the caller's names lead elsewhere by now.
        if !closed.isEmpty, submission.names(oneOf: closed) {
            return .stale
        }
        // E1: a request's first event, perhaps behind a store's facts, would stand, and readers pass over the later one.
        if let request = submission.isRequest ? submission.signal : submission.request {
            for record in submission.records.drop(while: { $0.signal != request }).dropFirst() {
                let signal = record.signal
                if let taken = try signals[signal] ?? index.sequence(of: signal) {
                    return .idTaken(at: taken)
                }
            }
        }
        for expected in submission.expectations {
            let last =
                try lastSequences[expected.stream] ?? index.lastSequence(of: expected.stream)
            if last != expected.lastSequence { return .stale }
        }
        if let kept = submission.recordedAt {
            if kept < batch.lastRecordedAt { return .recordedTimeBeforeLast }
            if kept > clock { return .recordedTimeAfterClock }
        }
        // T3, law 2: never before the previous event's.
        return .appended(
            first: batch.first + UInt64(batch.records.count),
            recordedAt: submission.recordedAt ?? max(clock, batch.lastRecordedAt)
        )
    }

    private mutating func place(
        _ submission: SealedSubmission,
        first: UInt64,
        recordedAt: Int64
    ) {
        // Lent where they stand: a copy counts each of their parts.
        let list = submission.records
        let records = list.span
        for offset in records.indices {
            let sequence = first + UInt64(offset)
            let leaf = batch.records.append(
                records[offset],
                sequence: sequence,
                recordedAt: recordedAt,
                attachedAt: first
            )
            batch.leaves.append(leaf)
            // The first stays; nearly all are.
            if let known = signals.updateValue(sequence, forKey: records[offset].signal) {
                signals[records[offset].signal] = known
            }
            if reliesOnStreams {
                lastSequences[records[offset].stream] = sequence
                for stream in records[offset].others { lastSequences[stream] = sequence }
            }
            batch.entries.append(
                IndexEntry(
                    sequence: sequence,
                    signal: records[offset].signal,
                    kind: records[offset].kind,
                    stream: records[offset].stream,
                    others: records[offset].others
                )
            )
        }
        if let attached = submission.attached {
            batch.attached.append((first, attached))
        }
        batch.highestCounter = max(batch.highestCounter, submission.highestCounter)
        batch.sharedParts += submission.sharedParts
        batch.lastRecordedAt = recordedAt
        if submission.recordedAt == nil { batch.lastOwnRecordedAt = recordedAt }
    }
}

extension LogBatch {
    fileprivate mutating func reserveCapacity(_ count: Int) {
        records.reserveCapacity(count)
        leaves.reserveCapacity(count)
        entries.reserveCapacity(count)
    }
}
