import Encodings
import Entitlements
import LedgerAPI
import Synchronization

/// What the server does by itself, when it did it last and how that ended, and when it does it again.
final class JobBoard: Sendable {
    private let clock: @Sendable () -> Instant
    private let entries = Mutex<[Job: JobStatus]>([:])

    /// What is done.
    enum Job: String, CaseIterable {
        case archive, audit
        case auditEverything = "audit_everything"
        case backfill, checkpoint, drift, identifiers, products, quarantine, reports, stores, trust
        case webhooks
    }

    init(clock: @escaping @Sendable () -> Instant) { self.clock = clock }

    /// The time by which it is noted.
    var now: Instant { clock() }

    /// Takes up when an earlier server ran jobs that this one has, too.
    func takeUp(_ earlier: [JobStatus], of jobs: Set<Job>) {
        entries.withLock { entries in
            for status in earlier {
                guard let job = Job(rawValue: status.name), jobs.contains(job) else { continue }
                if entries[job]?.lastRunAt == nil { entries[job] = status }
            }
        }
    }

    /// When a job last did what it is there for; nil: never, as far as is known.
    func lastDone(_ job: Job) -> Instant? { entries.withLock { $0[job]?.lastDoneAt } }

    /// Notes what came of a job's run.
    func note(_ job: Job, _ run: JobRun) {
        switch run {
        case .done: end(job, isDone: true)
        case .failed: end(job, isDone: false)
        case .postponed, .ended: break
        }
    }

    /// Notes that a job comes after an interval.
    func plan(_ job: Job, after interval: Duration) {
        let next = clock() + interval
        entries.withLock { entries in
            entries[job, default: JobStatus(name: job.rawValue)].nextRunAt = next
        }
    }

    /// Notes that a job ran.
    ///
    /// `isDone`: whether it did what it is there for; that it found faults is no failure of its own.
    func end(_ job: Job, isDone: Bool) {
        let now = clock()
        entries.withLock { entries in
            var entry = entries[job] ?? JobStatus(name: job.rawValue)
            entry.lastRunAt = now
            entry.result = isDone ? .done : .failed
            if isDone { entry.lastDoneAt = now }
            entries[job] = entry
        }
    }

    /// Forgets what came of a job that another machine of the cluster does.
    func handOver(_ job: Job) { entries.withLock { $0[job] = nil } }

    /// Those that are planned or ran, by name.
    var all: [JobStatus] {
        let entries = entries.withLock(\.self)
        return Job.allCases.compactMap { entries[$0] }.sorted { $0.name.precedes($1.name) }
    }

    /// Appends the families.
    func append(to text: inout PrometheusText) {
        let families: [(String, String, (JobStatus) -> UInt64?)] = [
            (
                "entitle_job_last_done_seconds", "When a job last did what it is there for.",
                { $0.lastDoneAt.map { $0.wholeSeconds } }
            ),
            (
                "entitle_job_failed", "Whether the last run of a job failed.",
                { $0.result.map { $0 == .failed ? 1 : 0 } }
            ),
        ]
        let jobs = all
        for (name, help, value) in families {
            text.family(name, help, .gauge)
            for job in jobs {
                if let value = value(job) { text.sample(name, [("name", job.name)], value) }
            }
        }
    }
}
