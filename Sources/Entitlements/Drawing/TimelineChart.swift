public import Encodings

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
    }

    /// A stretch of one kind.
    public struct Bar: Sendable, Hashable {
        /// How it looks.
        public var kind: BarKind
        /// What it says.
        public var value: String
        /// When.
        public var interval: Interval
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
    }

    /// Lanes that are shown at most.
    public static let laneLimit = 60
    /// What is shown behind the last instant of interest: an end in 2199 squeezes nothing.
    private static let horizon = 400 * Instant.millisecondsPerDay

    /// Reads an answer; what is not of the shape of `timeline` is left out.
    public init(_ answer: JSONValue) {
        at = Self.instant(answer["at"]) ?? Instant.earliest
        known = Self.instant(answer["known"])
        let lanes = Self.lanes(answer)
        self.lanes = Array(lanes.prefix(Self.laneLimit))
        hiddenLanes = lanes.count - self.lanes.count
        marks = (answer["events"]?.array ?? []).compactMap { Mark($0) }
            .sorted { $0.time < $1.time }
        axis = Self.axis(self.lanes, marks, at)
        let environment = answer["environment"]?.string ?? ""
        title =
            "\(answer["customer"]?.string ?? "") (\(environment)) at \(at)"
            + (known.map { ", as known at \($0)" } ?? "")
        summary = Self.summary(self.lanes, marks, at)
    }

    private static func instant(_ value: JSONValue?) -> Instant? {
        value?.string.flatMap { Instant(rfc3339: $0) }
    }

    fileprivate static func interval(_ stretch: JSONValue) -> Interval? {
        guard let start = instant(stretch["from"]) else { return nil }
        return Interval(start: start, end: instant(stretch["to"]))
    }

    private static func lanes(_ answer: JSONValue) -> [Lane] {
        let tier = Lane("tier", answer["tiers"]) { $0 == Catalog.freeTier ? nil : .tier }
        let features = (answer["features"]?.members ?? []).map { feature in
            Lane(feature.name, feature.value) { BarKind(reason: $0) }
        }
        let purchases = (answer["statuses"]?.members ?? []).map { purchase in
            Lane(purchase.name, purchase.value) { BarKind(status: $0) }
        }
        return [tier] + features + purchases + others(answer["stretches"]?.array ?? [])
    }

    /// Grants and trials, each a lane.
    private static func others(_ stretches: [JSONValue]) -> [Lane] {
        var lanes: [Lane] = []
        for stretch in stretches {
            guard let source = stretch["source"]?.string, let interval = interval(stretch),
                let kind = BarKind(source: source)
            else { continue }
            let bar = Bar(kind: kind, value: kind.word, interval: interval)
            if let index = lanes.firstIndex(where: { $0.label.isSame(as: source) }) {
                lanes[index].bars.append(bar)
            } else {
                lanes.append(Lane(label: source, bars: [bar]))
            }
        }
        return lanes.sorted { $0.label.precedes($1.label) }
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

extension TimelineChart.Lane {
    /// A lane of named stretches; those without a kind are no bars.
    fileprivate init(
        _ label: String,
        _ stretches: JSONValue?,
        kind: (String) -> TimelineChart.BarKind?
    ) {
        self.label = label
        bars = (stretches?.array ?? []).compactMap { stretch in
            guard let value = stretch["value"]?.string, let kind = kind(value),
                let interval = TimelineChart.interval(stretch)
            else { return nil }
            return TimelineChart.Bar(kind: kind, value: value, interval: interval)
        }
    }
}

extension TimelineChart.Mark {
    /// Reads an event in CloudEvents form.
    fileprivate init?(_ event: JSONValue) {
        guard let type = event["type"]?.string,
            let time = event["time"]?.string.flatMap({ Instant(rfc3339: $0) }),
            let recordedAt = event["recordedtime"]?.string.flatMap({ Instant(rfc3339: $0) })
        else { return nil }
        self.type = type
        self.time = time
        self.recordedAt = recordedAt
        kind = TimelineChart.MarkKind(type: type)
        isLate = LateFact(event) != nil
    }
}
