import Dispatch
import Entitlements
import EventLog
import Synchronization

/// The one writer: takes all submissions that wait as a group, decides them against the log and
/// one another, and makes them durable in one commit (storage.md, "Append").
final class LogWriter: Sendable {
    private let log: any LogStorage
    private let vault: any Vault
    private let views: Views
    private let clock: @Sendable () -> Instant
    private let queue = DispatchQueue(label: "entitlement-ledger.writer")
    private let waiting = Mutex<Waiting>(Waiting())
    private let end = Mutex<LogEnd?>(nil)

    private struct Waiting {
        var members: [Member] = []
        var isDraining = false
    }

    private struct Member {
        var submission: SealedSubmission
        var resume: CheckedContinuation<AppendOutcome, any Error>
    }

    /// Submissions of one group.
    static let groupLimit = 4096
    /// How far the log's last recorded time may lie ahead of the clock (T3).
    static let clockToleranceMilliseconds: Int64 = 300_000

    init(
        log: any LogStorage,
        vault: any Vault,
        views: Views,
        clock: @escaping @Sendable () -> Instant
    ) {
        self.log = log
        self.vault = vault
        self.views = views
        self.clock = clock
    }

    /// Appends together with whoever else waits; returns when it is durable (E3).
    func append(_ submission: SealedSubmission) async throws -> AppendOutcome {
        try await withCheckedThrowingContinuation { continuation in
            let mustDrain = waiting.withLock { waiting in
                waiting.members.append(Member(submission: submission, resume: continuation))
                defer { waiting.isDraining = true }
                return !waiting.isDraining
            }
            if mustDrain { queue.async { self.drain() } }
        }
    }

    /// Appends a group on the caller's thread.
    func append(_ group: [SealedSubmission]) throws -> [AppendOutcome] {
        try queue.sync { try commit(group) }
    }

    private func drain() {
        while true {
            let group = waiting.withLock { waiting in
                let group = Array(waiting.members.prefix(Self.groupLimit))
                waiting.members.removeFirst(group.count)
                if group.isEmpty { waiting.isDraining = false }
                return group
            }
            if group.isEmpty { return }
            do {
                let outcomes = try commit(group.map(\.submission))
                for (member, outcome) in zip(group, outcomes) {
                    member.resume.resume(returning: outcome)
                }
            } catch {
                for member in group { member.resume.resume(throwing: error) }
            }
        }
    }

    private func commit(_ group: [SealedSubmission]) throws -> [AppendOutcome] {
        let end = try currentEnd()
        let now = clock().milliseconds
        guard end.lastRecordedAt <= now + Self.clockToleranceMilliseconds else {
            throw LedgerFault(
                .clockBehind,
                "the clock is behind the log's last recorded time: try again later"
            )
        }
        let decision = try GroupDecision(group, end: end, index: views, clock: now)
        let batch = decision.batch
        guard !batch.records.isEmpty else { return decision.outcomes }
        // Keys first: a record whose key was lost would be lost; a key without records is not.
        try vault.commit(Set(batch.entries.flatMap(\.streams)))
        let appended: LogEnd
        do {
            appended = try log.append(batch)
        } catch {
            self.end.withLock { $0 = nil }
            // A full disk too may have failed between a commit's two writes.
            let code = (error as? LogStorageFault)?.code
            if code == .outcomeUnknown || code == .full { try recover() }
            throw error
        }
        views.absorb(batch.entries)
        self.end.withLock { $0 = appended }
        views.followBehind()
        return decision.outcomes
    }

    /// The log's end; read again after a failed commit.
    private func currentEnd() throws -> LogEnd {
        if let known = end.withLock({ $0 }) { return known }
        let read = try log.end()
        end.withLock { $0 = read }
        return read
    }

    /// After a commit whose outcome is unknown: opens the log again and reads what stands.
    private func recover() throws {
        try log.reopen()
        try views.catchUp()
    }
}
