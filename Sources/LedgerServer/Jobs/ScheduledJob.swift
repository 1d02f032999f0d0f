import Entitlements

/// Something that the server does by itself, again and again.
protocol ScheduledJob: Sendable {
    /// What it is called.
    var job: JobBoard.Job { get }
    /// Between the end of a run that did it and the next one.
    var interval: Duration { get }
    /// Whether it is done once for a whole cluster, by the machine that leads.
    var isLeaders: Bool { get }
    /// Between the server's start and the first run, where it is not known when it ran last; zero: at each
    /// start.
    var firstWait: Duration { get }

    /// Does it once.
    mutating func run() async -> JobRun
    /// Forgets what it found last, where another machine of the cluster does it from now on.
    func handOver()
    /// Does what is left to do when the server ends.
    func end() async
}

extension ScheduledJob {
    /// What looks at a machine's own files is done by each.
    var isLeaders: Bool { false }
    /// A server that is started each day does it all the same.
    var firstWait: Duration { min(interval, .seconds(3600)) }
    func handOver() {}
    func end() async {}
}

/// How time passes for jobs: as the machine's does, or as a test turns it.
struct JobTime: Sendable {
    /// Waits so long; false: the server stops.
    var pass: @Sendable (Duration) async -> Bool

    /// The machine's.
    static let machine = JobTime { await $0.passes() }
}
