import Dispatch
import Entitlements
import EventLog
import PostingIndex
import Synchronization

/// The one writer: takes all submissions that wait as a group, decides them against the log and
/// one another, and makes them durable in one commit (Storage, "Append").
final class LogWriter: Sendable {
    private let log: any LogStorage
    private let vault: any Vault
    private let views: Views
    private let judge: Mutex<ClockJudge>
    private let queue = DispatchQueue(label: "entitlement-ledger.writer")
    /// Where callers are told while the next group is written.
    private let answering = DispatchQueue(label: "entitlement-ledger.writer.answers")
    private let waiting = Mutex<Waiting>(Waiting())
    private let known = Mutex(Known())
    /// When a commit failed, or was last tried again, since which none succeeded; nil: none did.
    private let failedAt = Mutex<Int64?>(nil)

    /// What the writer knows of the log.
    private struct Known {
        /// Its end; nil: to be read.
        var end: LogEnd?
        /// Whether a commit failed since which the log was not opened again.
        var isInDoubt = false
        /// The end that callers were told of before that commit; nil: it was not known.
        var acknowledged: LogEnd?
    }

    fileprivate struct Waiting {
        var members: [Member] = []
        /// Whether somebody is about to commit those that wait.
        var isDraining = false
    }

    /// What one caller hands in, answered together.
    fileprivate struct Member: Sendable {
        var submissions: [SealedSubmission]
        var resume: @Sendable (Result<[AppendOutcome], any Error>) -> Void
    }

    /// Appends submissions and says what became of each.
    struct Append: Sendable {
        fileprivate let body: @Sendable ([SealedSubmission]) throws -> [AppendOutcome]

        func callAsFunction(_ submissions: [SealedSubmission]) throws -> [AppendOutcome] {
            try body(submissions)
        }

        /// Looks up what a commit came to that failed: the log is opened again where one did.
        func resolveDoubt() throws { _ = try body([]) }
    }

    /// Appends by itself; only for who has the queue.
    private var appendAlone: Append { Append { try self.commit($0) } }

    /// Submissions of one group.
    static let groupLimit = 4096

    init(
        log: any LogStorage,
        vault: any Vault,
        views: Views,
        judge: ClockJudge
    ) {
        self.log = log
        self.vault = vault
        self.views = views
        self.judge = Mutex(judge)
        queue.setSpecific(key: Self.owner, value: ObjectIdentifier(self))
    }

    /// How long a disk that took nothing is left alone.
    private static let retryMilliseconds: Int64 = 5000

    /// Whether a commit failed after which the log was not opened again yet.
    var isInDoubt: Bool { known.withLock { $0.isInDoubt } }

    /// Whether nothing is made durable, as the last commit tells, or a new attempt.
    func isFailing(retrying attempt: () throws -> Void) -> Bool {
        let now = judge.withLock { $0.clock() }.milliseconds
        let isTried: Bool? = failedAt.withLock { failed in
            guard let last = failed else { return nil }
            // A clock that was set back makes no waiting.
            guard abs(now - last) >= Self.retryMilliseconds else { return false }
            failed = now
            return true
        }
        guard let isTried else { return false }
        guard isTried else { return true }
        do {
            try attempt()
        } catch let fault as LogStorageFault where fault.code == .noLeader {
            // What is recorded is another machine's to make durable by now.
        } catch {
            // Whatever the error is, nothing is made durable; an append tells it.
            return true
        }
        failedAt.withLock { $0 = nil }
        return false
    }

    /// Notes that the disk takes nothing; a refusal, or one damaged record, is not that.
    private func noteFailure(_ error: any Error) {
        switch error {
        case is LedgerFault, is ViewDamage: return
        case let fault as LogStorageFault
        where [.damaged, .busy, .newerFormat, .noLeader].contains(fault.code):
            return
        default:
            let now = judge.withLock { $0.clock() }.milliseconds
            failedAt.withLock { $0 = now }
        }
    }

    private static let owner = DispatchSpecificKey<ObjectIdentifier>()

    /// Whether the caller has the writer for itself: who appends among others then waits forever.
    var isWithCaller: Bool { DispatchQueue.getSpecific(key: Self.owner) == ObjectIdentifier(self) }

    /// Appends together with whoever else waits, and tells the caller when it is durable (E3).
    ///
    /// May block until then: who finds nobody at work commits on its own thread.
    func append(
        _ submission: SealedSubmission,
        then resume: @escaping @Sendable (Result<AppendOutcome, any Error>) -> Void
    ) {
        if join([submission], { resume($0.map { $0[0] }) }) { queue.sync { drain() } }
    }

    /// Appends together with whoever else waits; blocks until it is durable (E3).
    func append(_ submissions: [SealedSubmission]) throws -> [AppendOutcome] {
        precondition(!isWithCaller, "who has the writer appends by itself")
        let answer = Answer()
        // Who finds nobody at work commits on its own thread: a lone caller wakes no other.
        if join(submissions, answer.set) { queue.sync { drain() } }
        return try answer.wait()
    }

    /// Runs a decision while nobody else appends: what it reads stands until its own append.
    ///
    /// Decisions come in the order in which they asked, between the groups of the others.
    func alone<Outcome>(_ body: (Append) throws -> Outcome) rethrows -> Outcome {
        try queue.sync { try body(appendAlone) }
    }

    /// Runs a body alone, for a caller that must not block.
    func alone<Outcome: Sendable>(
        _ body: @escaping @Sendable (Append) throws -> Outcome
    ) async throws -> Outcome {
        try await withCheckedThrowingContinuation { continuation in
            queue.async {
                continuation.resume(with: Result { try body(self.appendAlone) })
            }
        }
    }

    /// Lines up; true: nobody is at work, the caller is to drain.
    private func join(
        _ submissions: [SealedSubmission],
        _ resume: @escaping @Sendable (Result<[AppendOutcome], any Error>) -> Void
    ) -> Bool {
        waiting.withLock { waiting in
            waiting.members.append(Member(submissions: submissions, resume: resume))
            defer { waiting.isDraining = true }
            return !waiting.isDraining
        }
    }

    /// Commits one group of those that wait; the next one takes its turn behind what else waits
    /// for the queue, while who was in this one is told.
    private func drain() {
        let group = waiting.withLock { $0.takeGroup(limit: Self.groupLimit) }
        let submissions =
            group.count == 1 ? group[0].submissions : group.flatMap(\.submissions)
        let outcomes = Result { try commit(submissions) }
        let isDone = waiting.withLock { waiting in
            waiting.isDraining = !waiting.members.isEmpty
            return !waiting.isDraining
        }
        guard !isDone else { return Self.answer(group, outcomes) }
        queue.async { self.drain() }
        answering.async { Self.answer(group, outcomes) }
    }

    private static func answer(_ group: [Member], _ outcomes: Result<[AppendOutcome], any Error>) {
        var next = 0
        for member in group {
            let range = next..<next + member.submissions.count
            member.resume(outcomes.map { Array($0[range]) })
            next = range.upperBound
        }
    }

    /// Takes up what another machine has appended, while nobody else appends.
    ///
    /// `copy`: adds it to log and vault.
    func follow(_ copy: () throws -> Void) throws {
        try queue.sync {
            // What failed in the middle stands in part: it is looked at again.
            known.withLock { $0.end = nil }
            try copy()
            _ = try currentEnd()
            views.followBehind()
        }
    }

    /// Judges the clock as an append would (T3).
    func requireClock() throws {
        try queue.sync { _ = try believedNow(behind: currentEnd()) }
    }

    private func believedNow(behind end: LogEnd) throws -> Instant {
        try judge.withLock { try $0.now(behind: end, of: log) }
    }

    private func commit(_ group: [SealedSubmission]) throws -> [AppendOutcome] {
        do {
            return try commitWhole(group)
        } catch {
            noteFailure(error)
            throw error
        }
    }

    private func commitWhole(_ group: [SealedSubmission]) throws -> [AppendOutcome] {
        let end = try currentEnd()
        let now = try believedNow(behind: end)
        let decision = try GroupDecision(
            group,
            end: end,
            index: views,
            clock: now.milliseconds,
            closed: vault.closedStreams,
            surrenders: vault.surrenders
        )
        let batch = decision.batch
        guard !batch.records.isEmpty else { return decision.outcomes }
        let appended: LogEnd
        do {
            // A record whose key was lost would be lost: both become durable at once.
            appended = try vault.commit(upTo: batch.highestCounter) { new in
                var batch = batch
                batch.newStreams = new
                return try log.append(batch)
            }
        } catch {
            // A full disk too may have failed between a commit's two writes; a log that cannot be read
            // may have been closed to be opened again, in vain.
            let code = (error as? LogStorageFault)?.code
            let isInDoubt = [.outcomeUnknown, .full, .unreadable].contains(code)
            known.withLock { $0 = Known(isInDoubt: isInDoubt, acknowledged: end) }
            // Who waits is told of the commit; what fails here is tried again before the next one.
            _ = try? currentEnd()
            throw error
        }
        judge.withLock { $0.note(now) }
        failedAt.withLock { $0 = nil }
        views.absorb(batch.entries)
        known.withLock { $0.end = appended }
        views.followBehind()
        return decision.outcomes
    }

    /// The log's end; after a failed commit the log is opened again and what stands is read.
    private func currentEnd() throws -> LogEnd {
        let known = known.withLock { $0 }
        if let end = known.end { return end }
        if known.isInDoubt { try log.reopen() }
        // Before views are made of it, or anything is added to it.
        if let acknowledged = known.acknowledged { try requireNoLess(than: acknowledged) }
        try views.catchUp()
        let end = try log.end()
        self.known.withLock { $0 = Known(end: end) }
        return end
    }

    private func requireNoLess(than known: LogEnd) throws {
        let end = try log.end()
        guard end.size > known.size || end.edge == known.edge else {
            throw LogStorageFault(.damaged, "the log lacks what was acknowledged")
        }
    }
}

extension LogWriter.Waiting {
    /// The members that have waited longest: at least one, then as many as a group holds.
    fileprivate mutating func takeGroup(limit: Int) -> [LogWriter.Member] {
        var count = 0
        var taken = 0
        while taken < members.count {
            let more = members[taken].submissions.count
            guard taken == 0 || count + more <= limit else { break }
            count += more
            taken += 1
        }
        defer { members.removeFirst(taken) }
        return Array(members.prefix(taken))
    }
}

/// What a thread waits for until another one has it.
private final class Answer: Sendable {
    private let outcomes = Mutex<Result<[AppendOutcome], any Error>?>(nil)
    private let isThere = DispatchSemaphore(value: 0)

    @Sendable func set(_ outcomes: Result<[AppendOutcome], any Error>) {
        self.outcomes.withLock { $0 = outcomes }
        isThere.signal()
    }

    func wait() throws -> [AppendOutcome] {
        isThere.wait()
        guard let outcomes = outcomes.withLock({ $0 }) else {
            preconditionFailure("an answer is set before it is signalled")
        }
        return try outcomes.get()
    }
}
