/// Which runs of an index are joined, by how many events each lists.
///
/// Runs of one level are joined once there are ``fanIn`` of them, so that a posting is written once a
/// level, and a question looks into fewer than ``fanIn`` runs a level (O'Neil and others 1996, "The
/// log-structured merge-tree", with several runs a level).
package struct RunLevel: Comparable {
    private let number: Int

    /// Runs of one level that are joined into one of the next.
    ///
    /// Of 10 M events that came in runs of 100 000 a posting is written 3.2 times, of 100 M 4.0 times;
    /// on the average 5 and 7 runs are looked into.
    package static let fanIn = 4
    /// Events of a run that comes of joining, at most: so joining is bounded, whatever runs there are.
    package static let joinLimit: UInt64 = 1 << 25
    /// Runs with fewer events are of one level: commands that append a few each leave few files.
    private static let leastEvents: UInt64 = 1 << 8

    init(events: UInt64) {
        var number = 0
        var rest = events / Self.leastEvents
        while rest > 0 {
            number += 1
            rest /= UInt64(Self.fanIn)
        }
        self.number = number
    }

    package static func < (left: Self, right: Self) -> Bool { left.number < right.number }

    /// The first of the runs at the end that are to be one run, given each run's events.
    ///
    /// Is the last one where nothing is to be joined. At least one run.
    package static func firstToJoin(_ events: [UInt64]) -> Int {
        var first = events.count - 1
        var joined = events[first]
        while true {
            let level = RunLevel(events: joined)
            var (next, sum) = (first, joined)
            while next > 0, RunLevel(events: events[next - 1]) <= level,
                sum + events[next - 1] <= joinLimit
            {
                next -= 1
                sum += events[next]
            }
            // What was joined so far is one run of this level.
            guard first - next + 1 >= fanIn else { return first }
            (first, joined) = (next, sum)
        }
    }
}
