import Glibc

/// What something costs, held against what less of it costs in the same run.
struct Cost {
    /// What is measured.
    var name: String
    /// How much of it there may be.
    var limit: Int
    /// Makes so much of it, and returns what is measured.
    var work: @Sendable (_ size: Int) -> () -> Void

    /// How much less of it is measured first.
    private static let part = 8
    /// How much more than its share a size may cost: growth with the square costs ``part`` times as
    /// much, and what a machine does meanwhile less than this.
    private static let tolerance = 4.0

    /// Whether the limit costs no more for each thing than a small part of it does.
    var isLinear: Bool {
        // Below some work, what is measured is the clock.
        let least = Self.seconds(runs: Self.runs * Self.part, work(max(1, limit / Self.part)))
        let most = Self.seconds(runs: Self.runs, work(limit))
        return most <= 0.002 || most <= least * Double(Self.part) * Self.tolerance
    }

    /// How often the limit is measured, and its part as often as that takes: what a busy machine adds to the
    /// shortest would hide the growth.
    private static let runs = 3

    /// Processor time of this thread, the least of some runs.
    private static func seconds(runs: Int, _ body: () -> Void) -> Double {
        (0..<runs).map { _ in
            let start = now
            body()
            return now - start
        }
        .min() ?? 0
    }

    private static var now: Double {
        var time = timespec()
        unsafe clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}
