import Entitlements
import EventLog

/// Records prepared submissions in order, as many in a commit as come together.
struct BatchRecorder {
    private let appender: Appender
    private let preparation: Preparation
    private let submissions: [PreparedSubmission]
    private let stopsAtRefusal: Bool
    private var receipts: [Receipt?]
    /// Sealed and not handed in yet, in their order.
    private var waiting: [Member] = []
    private var waitingSignals: Set<SignalDigest> = []
    /// The recorded time that those that wait come to.
    private var waitingRecordedAt = Int64.min
    /// Whether a submission was refused and nothing behind it is to be recorded.
    private var isStopped = false

    private struct Member {
        var index: Int
        var sealed: SealedSubmission
    }

    init(_ appender: Appender, _ submissions: [PreparedSubmission], stopsAtRefusal: Bool) {
        self.appender = appender
        self.submissions = submissions
        self.stopsAtRefusal = stopsAtRefusal
        preparation = Preparation(appender)
        receipts = Array(repeating: nil, count: submissions.count)
    }

    /// Records them all, or up to the first that is refused; one receipt for each of these.
    mutating func record() throws -> [Receipt] {
        waiting.reserveCapacity(submissions.count)
        for index in submissions.indices where !isStopped {
            switch submissions[index].state {
            case .settled(let receipt): try settle(index, receipt)
            case .sealed(let sealed): try add(Member(index: index, sealed: sealed))
            }
        }
        try commit()
        return receipts.compactMap { $0 }
    }

    private mutating func settle(_ index: Int, _ receipt: Receipt) throws {
        if stopsAtRefusal, case .refused = receipt {
            try commit()
            guard !isStopped else { return }
            isStopped = true
        }
        receipts[index] = receipt
    }

    /// Where nothing behind a refused one is to be recorded, nobody stands in a group behind one
    /// that may be refused: a repeat, which may say something else, or a recorded time to keep.
    private mutating func add(_ member: Member) throws {
        guard stopsAtRefusal else { return waiting.append(member) }
        let isRepeat = waitingSignals.contains(member.sealed.signal)
        let isAlone = try isRepeat || mayBeRefused(member.sealed.recordedAt)
        if isAlone { try commit() }
        guard !isStopped else { return }
        if isRepeat { return try retry(member.index) }
        waitingSignals.insert(member.sealed.signal)
        waitingRecordedAt = max(
            waitingRecordedAt,
            member.sealed.recordedAt ?? appender.clock().milliseconds
        )
        waiting.append(member)
        if isAlone { try commit() }
    }

    /// Whether a recorded time to keep lies before the last or after the clock (T3).
    private func mayBeRefused(_ recordedAt: Int64?) throws -> Bool {
        guard let recordedAt else { return false }
        let last = try max(waitingRecordedAt, appender.questions.log.end().lastRecordedAt)
        return recordedAt < last || recordedAt > appender.clock().milliseconds
    }

    /// Hands in those that wait; they rely on nothing that could move.
    private mutating func commit() throws {
        guard !waiting.isEmpty else { return }
        let members = waiting
        waiting.removeAll(keepingCapacity: true)
        waitingSignals.removeAll(keepingCapacity: true)
        waitingRecordedAt = .min
        let outcomes = try appender.writer.append(members.map(\.sealed))
        for (member, outcome) in zip(members, outcomes) {
            let submission = submissions[member.index].submission
            if let receipt = try preparation.receipt(outcome, member.sealed, submission) {
                receipts[member.index] = receipt
                if stopsAtRefusal, case .refused = receipt { isStopped = true }
            } else {
                try retry(member.index)
            }
        }
    }

    /// Seals one anew by itself, as often as an erasure overtakes it.
    private mutating func retry(_ index: Int) throws {
        let (submission, recordedAt) = (
            submissions[index].submission, submissions[index].recordedAt
        )
        let receipt: Receipt = try appender.decide { append in
            switch try preparation.seal(submission, recordedAt: recordedAt) {
            case .settled(let receipt): receipt
            case .sealed(let sealed):
                try preparation.receipt(append([sealed])[0], sealed, submission)
            }
        }
        try settle(index, receipt)
    }
}
