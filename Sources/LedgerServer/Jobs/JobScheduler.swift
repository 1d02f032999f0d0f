import EntitlementLedger
import Entitlements
import ServiceLifecycle

/// Runs what the server does by itself, each job at its times, and notes what came of it.
///
/// A run that failed is tried again sooner than its time: after a delay that doubles, and not before whoever
/// was asked wants to be asked again (`Retry-After`). A job that takes long holds up no other.
struct JobScheduler: Service {
    let jobs: [any ScheduledJob]
    let board: JobBoard
    /// Keeps when they ran; nil: there is nowhere to.
    var keeper: JobKeeper?
    var time = JobTime.machine
    /// Whether this machine does what is done once for a whole cluster.
    var leads: @Sendable () -> Bool = { true }

    /// How long it waits after the first failure.
    private static let firstRetry = Duration.seconds(30)
    /// How long until it is looked again whether this machine leads.
    private static let leaderLook = Duration.seconds(1)
    /// How long a store may want to be left alone: what it says beyond is a mistake.
    private static let longestRest = Duration.seconds(86_400)
    /// How soon after the start a job runs whose time was while no server ran.
    private static let leastFirstWait = Duration.seconds(60)

    /// Runs the jobs until the server is told to stop, then ends them one after the other.
    func run() async throws {
        if let keeper { board.takeUp(await keeper.takeUp(), of: Set(jobs.map(\.job))) }
        await withDiscardingTaskGroup { group in
            for job in jobs { group.addTask { await run(job) } }
            // One without jobs ends with the server, too, and not before; whoever is cancelled ends at once.
            if jobs.isEmpty { try? await gracefulShutdown() }
        }
        for job in jobs where !job.isLeaders || leads() { await job.end() }
        await keeper?.keep(board)
    }

    private func run(_ first: any ScheduledJob) async {
        var (job, wait, failures) = (first, firstWait(of: first), 0)
        while true {
            board.plan(job.job, after: wait)
            guard await time.pass(wait) else { return }
            let run = await turn(&job)
            board.note(job.job, run)
            // What comes more often than that is not missed where a server is started anew.
            if job.interval >= Self.leastFirstWait { await keeper?.keep(board) }
            failures =
                switch run {
                // What gets on is never held up for longer than after its first failure.
                case .failed(_, let gotOn): gotOn ? 1 : failures + 1
                case .done, .postponed, .ended: 0
                }
            guard let next = self.wait(after: run, failures, of: job.interval) else { return }
            wait = next
        }
    }

    /// Runs a job where it is this machine's turn.
    private func turn(_ job: inout any ScheduledJob) async -> JobRun {
        guard job.isLeaders, !leads() else { return await job.run() }
        // What came of it here is of long ago, and would raise alerts until this machine leads again.
        board.handOver(job.job)
        job.handOver()
        return .postponed(Self.leaderLook)
    }

    /// How long it is until the first run: what is left of the interval since an earlier server's last one.
    private func firstWait(of job: any ScheduledJob) -> Duration {
        guard job.firstWait > .zero, let last = board.lastDone(job.job) else {
            return job.firstWait
        }
        // Fits: a year of RFC 3339 has four digits.
        let passed = Duration.milliseconds(board.now.milliseconds - last.milliseconds)
        let least = min(Self.leastFirstWait, job.interval)
        return min(max(job.interval - passed, least), job.interval)
    }

    /// How long it is until the next run; nil: the server stops.
    ///
    /// `failures`: in a row.
    private func wait(after run: JobRun, _ failures: Int, of interval: Duration) -> Duration? {
        switch run {
        case .done: return interval
        case .postponed(let pause): return pause
        case .ended: return nil
        case .failed(let notBefore, _):
            let rest = notBefore.map {
                Duration.milliseconds($0.milliseconds - board.now.milliseconds)
            }
            return max(
                Self.delay(after: failures, of: interval),
                min(rest ?? .zero, Self.longestRest)
            )
        }
    }

    /// How long a job that comes at an interval waits after so many failures in a row.
    static func delay(after failures: Int, of interval: Duration) -> Duration {
        // Fits: half a minute, doubled sixteen times, is a month.
        min(interval, firstRetry * (1 << min(max(failures - 1, 0), 16)))
    }
}

extension LedgerServer {
    /// Runs what a server does by itself.
    static func scheduler(_ options: Options, _ service: LedgerService) -> JobScheduler {
        JobScheduler(
            jobs: jobs(options, service),
            board: service.jobs,
            keeper: JobKeeper(service),
            leads: { service.leads }
        )
    }

    /// What a server does by itself, in the order in which it ends.
    static func jobs(_ options: Options, _ service: LedgerService) -> [any ScheduledJob] {
        var jobs: [any ScheduledJob] = options.audits.watches(service)
        if let schedule = options.drift {
            jobs.append(DriftWatch(service: service, schedule: schedule))
        }
        if !options.ledger.isReadOnly { jobs.append(IdentifierWatch(service: service)) }
        if let directory = options.directory, !options.ledger.isReadOnly {
            jobs.append(QuarantineWatch(service: service, directory: directory))
        }
        if let interval = options.storeWatch {
            jobs.append(
                StoreWatch(service: service, interval: interval, silence: options.silence)
            )
        }
        if let interval = options.reportWatch {
            jobs.append(ReportWatch(service: service, interval: interval))
        }
        if let read = options.readTrust, let interval = options.trustInterval {
            jobs.append(TrustRefresh(service: service, read: read, interval: interval))
        }
        if let interval = options.backfill, !options.ledger.isReadOnly {
            jobs.append(BackfillWatch(service: service, interval: interval))
        }
        if let schedule = options.productLoads {
            jobs.append(ProductRefresh(service: service, schedule: schedule))
        }
        // What is archived is signed before.
        if let schedule = options.publication {
            jobs.append(LogPublisher(service: service, schedule: schedule))
        }
        if let schedule = options.archive {
            jobs.append(LogArchiver(service: service, schedule: schedule))
        }
        return jobs
    }
}
