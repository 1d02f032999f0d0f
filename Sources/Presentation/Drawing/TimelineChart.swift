package import Entitlements

/// What a customer's timeline looks like: lanes of bars, and marks for events.
///
/// Made of a `timeline` answer alone, so that the same answer is always drawn the same.
package struct TimelineChart: Sendable, Hashable {
    /// Whom and which point it shows.
    package let title: String
    /// What can be seen, in a sentence.
    package let summary: String
    /// T of the question.
    package let at: Instant
    /// R of the question; nil: all that is known, or a prefix by its size.
    package let known: Instant?
    /// Tier, features, purchases, grants and trials, in this order.
    package let lanes: [Lane]
    /// Lanes that are not shown.
    package let hiddenLanes: Int
    /// Events by effective time.
    package let marks: [Mark]
    /// What is shown of time.
    package let axis: TimeAxis

    /// One thing over time.
    package struct Lane: Sendable, Hashable {
        /// Its name.
        package var label: String
        /// Ascending; where there is none it gives nothing.
        package var bars: [Bar]

        /// Makes one.
        package init(label: String, bars: [Bar]) {
            self.label = label
            self.bars = bars
        }
    }

    /// A stretch of one kind.
    package struct Bar: Sendable, Hashable {
        /// How it looks.
        package var kind: BarKind
        /// What it says.
        package var value: String
        /// When.
        package var interval: Interval

        /// Makes one.
        package init(kind: BarKind, value: String, interval: Interval) {
            self.kind = kind
            self.value = value
            self.interval = interval
        }
    }

    /// An event.
    package struct Mark: Sendable, Hashable {
        /// How it looks.
        package var kind: MarkKind
        /// The event's `type`.
        package var type: String
        /// The effective time (T1).
        package var time: Instant
        /// The recorded time (T3).
        package var recordedAt: Instant
        /// Whether it was learned of late.
        package var isLate: Bool

        /// Makes one.
        package init(kind: MarkKind, type: String, time: Instant, recordedAt: Instant, isLate: Bool)
        {
            self.kind = kind
            self.type = type
            self.time = time
            self.recordedAt = recordedAt
            self.isLate = isLate
        }
    }

    /// Lanes that are shown at most.
    package static let laneLimit = 60
    /// What is shown behind the last instant of interest: an end in 2199 squeezes nothing.
    private static let horizon = 400 * Instant.millisecondsPerDay

    /// Draws lanes and marks.
    ///
    /// `lanes`: tier, features, purchases, grants and trials, in this order.
    package init(title: String, at: Instant, known: Instant?, lanes: [Lane], marks: [Mark]) {
        self.title = title
        self.at = at
        self.known = known
        self.lanes = Array(lanes.prefix(Self.laneLimit))
        hiddenLanes = lanes.count - self.lanes.count
        self.marks = marks.sorted { $0.time < $1.time }
        axis = Self.axis(self.lanes, self.marks, at)
        summary = Self.summary(self.lanes, self.marks, at)
    }

    /// A name in so many characters at most: its middle goes, for ids differ at their ends.
    static func shortened(_ name: String, to limit: Int) -> String {
        guard name.count > limit else { return name }
        let head = limit / 3
        return name.prefix(head) + "…" + name.suffix(limit - head - 1)
    }

    /// The kinds of marks that occur.
    var markKinds: [MarkKind] {
        let kinds = Set(marks.map(\.kind))
        return MarkKind.allCases.filter(kinds.contains)
    }

    private static func axis(_ lanes: [Lane], _ marks: [Mark], _ at: Instant) -> TimeAxis {
        var instants = marks.flatMap { [$0.time, $0.recordedAt] }
        instants.append(at)
        let last = instants.max() ?? at
        let ends = lanes.flatMap(\.bars).flatMap { [$0.interval.start, $0.interval.end ?? last] }
        let limit = last.advanced(byMilliseconds: horizon)
        return TimeAxis(
            from: (instants + ends).min() ?? at,
            to: min((instants + ends).max() ?? at, limit)
        )
    }

    private static func summary(_ lanes: [Lane], _ marks: [Mark], _ at: Instant) -> String {
        let open = lanes.compactMap { lane in
            lane.bars.first { $0.interval.contains(at) }.map { "\(lane.label) \($0.value)" }
        }
        let late = marks.count { $0.isLate }
        return "At \(at): " + (open.isEmpty ? "nothing" : open.joined(separator: ", "))
            + ". \(marks.count) events, \(late) of them learned of late."
    }
}
