import Entitlements

/// Something that the server does by itself, again and again.
protocol ScheduledJob: Sendable {
    /// What it is called.
    var job: JobBoard.Job { get }
    /// Between the end of a run that did it and the next one.
    var interval: Duration { get }
    /// Between the server's start and the first run.
    var firstWait: Duration { get }

    /// Does it once.
    mutating func run() async -> JobRun
    /// Does what is left to do when the server ends.
    func end() async
}

extension ScheduledJob {
    var firstWait: Duration { interval }
    func end() async {}
}

/// What came of a job's run.
enum JobRun: Sendable, Hashable {
    /// It did what it is there for, whatever it found.
    case done
    /// It could not; `notBefore`: when whoever was asked wants to be asked again, nil: they do not say.
    case failed(notBefore: Instant? = nil)
    /// Somebody else does it now: it comes again after a while.
    case postponed(Duration)
    /// The server stops.
    case ended
}

/// How time passes for jobs: as the machine's does, or as a test turns it.
struct JobTime: Sendable {
    /// Waits so long; false: the server stops.
    var pass: @Sendable (Duration) async -> Bool

    /// The machine's.
    static let machine = JobTime { await $0.passes() }
}
