/// Which runs of an index are joined, by how many events each lists.
///
/// Runs of one level are joined once there are ``fanIn`` of them, so that a posting is written once a
/// level, and a question looks into fewer than ``fanIn`` runs a level (O'Neil and others 1996, "The
/// log-structured merge-tree", with several runs a level).
package struct RunLevel: Comparable {
    private let number: Int

    /// Runs of one level that are joined into one of the next.
    ///
    /// Of 10 M events that came in runs of 100 000 a posting is written 3.6 times, and 5 runs are
    /// looked into on the average; with 8 it would be 2.6 and 7.
    package static let fanIn = 4
    /// Events of a run that is joined no more: so joining is bounded.
    package static let joinLimit: UInt64 = 1 << 24
    /// Runs with fewer events are of one level: commands that append a few each leave few files.
    private static let leastEvents: UInt64 = 1 << 12

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
        while joined < joinLimit {
            let level = RunLevel(events: joined)
            var next = first
            while next > 0, RunLevel(events: events[next - 1]) <= level { next -= 1 }
            // The runs that were joined so far are one of those of this level.
            guard first - next + 1 >= fanIn else { break }
            joined += events[next..<first].reduce(0, +)
            first = next
        }
        return first
    }
}
