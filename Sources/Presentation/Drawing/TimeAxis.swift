import Encodings
package import Entitlements

/// A stretch of time laid out over a width.
package struct TimeAxis: Sendable, Hashable {
    /// The first instant that is shown.
    package let start: Instant
    /// The first one that is not.
    package let end: Instant

    /// What is shown around a single instant.
    private static let leastMilliseconds: Int64 = 3_600_000
    /// Labels at most.
    private static let labelLimit = 8

    /// An axis from one instant to another, both held within what events may name.
    init(from start: Instant, to end: Instant) {
        let start = min(max(start, Instant.earliest), Instant.latest)
        let end = min(max(end, start), Instant.latest)
        let missing = max(0, Self.leastMilliseconds - (end.milliseconds - start.milliseconds))
        self.start = start.advanced(byMilliseconds: -missing)
        self.end = end.advanced(byMilliseconds: missing)
    }

    /// Where an instant lies between 0 and a width, held at both ends.
    func place(_ instant: Instant, width: Int64) -> Int64 {
        let held = min(max(instant, start), end)
        // At most 200 years of milliseconds: with widths up to a million it fits.
        return (held.milliseconds - start.milliseconds) * width
            / (end.milliseconds - start.milliseconds)
    }

    /// Whether an instant is shown.
    func contains(_ instant: Instant) -> Bool { start <= instant && instant <= end }

    /// A labelled instant.
    struct Tick {
        var instant: Instant
        var label: String
    }

    /// Instants with labels at a calendar's places, as few as are needed.
    var ticks: [Tick] {
        for step in Step.all {
            let ticks = step.ticks(from: start, to: end, limit: Self.labelLimit)
            if let ticks { return ticks }
        }
        return []
    }

    /// A distance between ticks.
    private enum Step {
        case milliseconds(Int64)
        case months(Int64)

        static let all: [Step] =
            [300_000, 900_000, 3_600_000, 10_800_000, 21_600_000].map { .milliseconds($0) }
            + [1, 2, 7].map { .milliseconds($0 * Instant.millisecondsPerDay) }
            + [1, 3, 6, 12, 24, 60, 120, 240, 600].map { .months($0) }

        /// The ticks of this step; nil: too many.
        func ticks(from start: Instant, to end: Instant, limit: Int) -> [Tick]? {
            var ticks: [Tick] = []
            var number = first(start)
            while true {
                let instant = self.instant(number)
                guard instant <= end else { return ticks }
                if instant >= start {
                    guard ticks.count < limit else { return nil }
                    ticks.append(Tick(instant: instant, label: label(instant)))
                }
                number += 1
            }
        }

        /// The number of a step that is not behind an instant.
        private func first(_ instant: Instant) -> Int64 {
            switch self {
            case .milliseconds(let step):
                return floorDivide(instant.milliseconds, by: step).quotient
            case .months(let step):
                let date = Self.date(instant)
                return floorDivide(date.year * 12 + date.month - 1, by: step).quotient
            }
        }

        private func instant(_ number: Int64) -> Instant {
            switch self {
            case .milliseconds(let step): return Instant(milliseconds: number * step)
            case .months(let step):
                let (year, month) = floorDivide(number * step, by: 12)
                let date = CivilDate(year: year, month: month + 1, day: 1)
                return Instant(milliseconds: date.daysSinceEpoch * Instant.millisecondsPerDay)
            }
        }

        private func label(_ instant: Instant) -> String {
            // 2026-01-02T03:04:05.678Z
            let text = instant.description
            switch self {
            case .months(let step) where step >= 12: return String(text.prefix(4))
            case .months: return String(text.prefix(7))
            case .milliseconds(let step) where step >= Instant.millisecondsPerDay:
                return String(text.prefix(10))
            case .milliseconds:
                return text.dropFirst(5).prefix(5) + " " + text.dropFirst(11).prefix(5)
            }
        }

        private static func date(_ instant: Instant) -> CivilDate {
            CivilDate(
                daysSinceEpoch: floorDivide(
                    instant.milliseconds,
                    by: Instant.millisecondsPerDay
                ).quotient
            )
        }
    }
}
