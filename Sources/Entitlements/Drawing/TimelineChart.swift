/// What a customer's timeline looks like: lanes of bars, and marks for events.
///
/// Made of a `timeline` answer alone, so that the same answer is always drawn the same.
public struct TimelineChart: Sendable, Hashable {
    /// Whom and which point it shows.
    public let title: String
    /// What can be seen, in a sentence.
    public let summary: String
    /// T of the question.
    public let at: Instant
    /// R of the question; nil: all that is known, or a prefix by its size.
    public let known: Instant?
    /// Tier, features, purchases, grants and trials, in this order.
    public let lanes: [Lane]
    /// Lanes that are not shown.
    public let hiddenLanes: Int
    /// Events by effective time.
    public let marks: [Mark]
    /// What is shown of time.
    public let axis: TimeAxis

    /// One thing over time.
    public struct Lane: Sendable, Hashable {
        /// Its name.
        public var label: String
        /// Ascending; where there is none it gives nothing.
        public var bars: [Bar]

        /// Makes one.
        public init(label: String, bars: [Bar]) {
            self.label = label
            self.bars = bars
        }
    }

    /// A stretch of one kind.
    public struct Bar: Sendable, Hashable {
        /// How it looks.
        public var kind: BarKind
        /// What it says.
        public var value: String
        /// When.
        public var interval: Interval

        /// Makes one.
        public init(kind: BarKind, value: String, interval: Interval) {
            self.kind = kind
            self.value = value
            self.interval = interval
        }
    }

    /// An event.
    public struct Mark: Sendable, Hashable {
        /// How it looks.
        public var kind: MarkKind
        /// The event's `type`.
        public var type: String
        /// The effective time (T1).
        public var time: Instant
        /// The recorded time (T3).
        public var recordedAt: Instant
        /// Whether it was learned of late.
        public var isLate: Bool

        /// Makes one.
        public init(kind: MarkKind, type: String, time: Instant, recordedAt: Instant, isLate: Bool)
        {
            self.kind = kind
            self.type = type
            self.time = time
            self.recordedAt = recordedAt
            self.isLate = isLate
        }
    }

    /// Lanes that are shown at most.
    public static let laneLimit = 60
    /// What is shown behind the last instant of interest: an end in 2199 squeezes nothing.
    private static let horizon = 400 * Instant.millisecondsPerDay

    /// Draws lanes and marks.
    ///
    /// `lanes`: tier, features, purchases, grants and trials, in this order.
    public init(title: String, at: Instant, known: Instant?, lanes: [Lane], marks: [Mark]) {
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
