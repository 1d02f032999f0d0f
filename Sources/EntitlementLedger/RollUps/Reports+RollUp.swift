public import Entitlements
import EventLog

/// Where roll-ups are laid under what followed, and moved along.
extension Reports {
    /// Streams that are counted anew for a question; where more are concerned, the log is read.
    private static let anewLimit = 20_000
    /// Streams that were counted anew from which on a roll-up is moved along.
    private static let moveLimit = 500
    /// Events behind which a roll-up is made anew rather than moved along.
    private static let behindLimit: UInt64 = 200_000
    /// Days before the one that the last event was recorded on at which every T can be asked about:
    /// as far as errors look back, unless told.
    private static let exactDays: Int64 = 2

    /// A roll-up with what followed it in the log; nil where the log must be asked.
    ///
    /// It answers for ranges of whole days, at a T that it tells, as known when it was made or later;
    /// where everything known is asked about and there is none, it is made.
    ///
    /// `size`: the prefix that the question means; `instants`: those of T that the answer is made from.
    func rollUp(
        _ kind: RollUp.Kind,
        _ question: ReportQuestion,
        size: UInt64,
        telling instants: [Instant]
    ) throws -> LaidRollUp? {
        let environment = question.environment
        guard kind == .customers || question.range.isOfWholeDays else { return nil }
        if let laid = try laid(kind, environment, size: size, telling: instants) { return laid }
        guard size == (try questions.size()),
            instants.allSatisfy(try emptyTable(kind, size: size).tells)
        else { return nil }
        let made = try make(kind, environment, size: size)
        return LaidRollUp(tables: [made.table])
    }

    private func laid(
        _ kind: RollUp.Kind,
        _ environment: StoreEnvironment,
        size: UInt64,
        telling instants: [Instant]
    ) throws -> LaidRollUp? {
        guard let kept = rollUps.current(kind, environment), kept.size <= size,
            instants.allSatisfy(kept.table.tells),
            let change = try change(of: kept, kind, environment, to: size)
        else { return nil }
        if change.streamCount > Self.moveLimit {
            try move(kept, by: change.table, kind, environment, to: size)
        }
        return LaidRollUp(tables: [kept.table, change.table])
    }

    /// Moves the roll-ups to the log's end, or makes them anew where they are far behind.
    ///
    /// Nothing is lost without it: reports read the log then.
    ///
    /// Cost: as a report of each from the log, and a look at each change of a subject; or some record
    /// reads for each subject that was spoken of since.
    public func rollUp(_ environment: StoreEnvironment) throws {
        for kind in RollUp.Kind.allCases {
            let size = try questions.size()
            if let kept = rollUps.current(kind, environment), kept.size <= size,
                let change = try change(of: kept, kind, environment, to: size)
            {
                try move(kept, by: change.table, kind, environment, to: size, isWritten: true)
            } else {
                _ = try make(kind, environment, size: size)
            }
        }
    }

    /// Whether the roll-up that stands is what the log gives; nil where none stands.
    ///
    /// Cost: as making it.
    func rollUpAgrees(_ kind: RollUp.Kind, _ environment: StoreEnvironment) throws -> Bool? {
        guard let kept = rollUps.current(kind, environment),
            kept.size <= (try questions.size())
        else { return nil }
        var difference = kept.table.emptied
        try source(kind, environment, size: kept.size).addAll(to: &difference)
        difference.merge(kept.table, times: -1)
        difference.settle()
        return difference.steps.isEmpty
    }

    private func make(
        _ kind: RollUp.Kind,
        _ environment: StoreEnvironment,
        size: UInt64
    ) throws -> RollUp {
        var table = try emptyTable(kind, size: size)
        try source(kind, environment, size: size).addAll(to: &table)
        table.settle()
        let made = RollUp(size: size, table: table)
        rollUps.keep(made, kind, environment, isWritten: true)
        return made
    }

    private func move(
        _ kept: RollUp,
        by change: StepTable,
        _ kind: RollUp.Kind,
        _ environment: StoreEnvironment,
        to size: UInt64,
        isWritten: Bool = false
    ) throws {
        guard kept.size < size else { return }
        var moved = kept
        moved.size = size
        moved.table.merge(change)
        moved.table.settle()
        moved.table.coarsen(before: try exactFrom(size))
        rollUps.keep(moved, kind, environment, isWritten: isWritten)
    }

    private func emptyTable(_ kind: RollUp.Kind, size: UInt64) throws -> StepTable {
        StepTable(exactFrom: try exactFrom(size), grain: kind.grain)
    }

    /// From where on every T can be asked about, for a roll-up of a prefix.
    private func exactFrom(_ size: UInt64) throws -> Instant {
        guard size > 0 else { return Instant(milliseconds: .min) }
        let day = CalendarDay(try questions.log.recordedAt(size - 1)).number - Self.exactDays
        // Fits: the day is one of an instant's, and nothing is recorded near the ends of time.
        return Instant(milliseconds: day * Instant.millisecondsPerDay)
    }

    /// What followed a roll-up: what the streams changed that were spoken of since, and how many there
    /// are; nil where something changed it all, or too many.
    private func change(
        of kept: RollUp,
        _ kind: RollUp.Kind,
        _ environment: StoreEnvironment,
        to size: UInt64
    ) throws -> (table: StepTable, streamCount: Int)? {
        var table = kept.table.emptied
        guard kept.size < size else { return (table, 0) }
        guard size - kept.size <= Self.behindLimit,
            let spoken = try spoken(in: kept.size..<size, kind, environment),
            spoken.count <= Self.anewLimit
        else { return nil }
        if questions.views.end < size { try questions.views.catchUp() }
        let isKnown = try source(kind, environment, size: size).addChange(
            of: spoken,
            since: kept.size,
            to: &table
        )
        table.settle()
        return isKnown ? (table, spoken.count) : nil
    }

    /// The streams that a part of the log speaks of, as far as a report reads it; nil where it tells
    /// of something that may have changed what anybody adds.
    private func spoken(
        in range: Range<UInt64>,
        _ kind: RollUp.Kind,
        _ environment: StoreEnvironment
    ) throws -> [UInt64: EventKind]? {
        var streams: [UInt64: EventKind] = [:]
        var isAllChanged = false
        try questions.log.scan(from: range.lowerBound, upTo: range.upperBound) { header, _ in
            let told = try header.eventKind()
            switch kind.effect(of: told) {
            case .everything: isAllChanged = true
            case .subject where header.environment == environment.rawValue:
                if streams[header.stream]?.isFolded != true { streams[header.stream] = told }
            case .subject, .nothing: break
            }
            return !isAllChanged
        }
        return isAllChanged ? nil : streams
    }
}

/// A roll-up with what followed it.
struct LaidRollUp {
    let tables: [StepTable]

    /// The sums at T, of a range of whole days.
    func sums(at instant: Instant, range: Interval) -> CellSums {
        sums(from: Interval(upTo: instant), range: range)
    }

    /// The sums of an interval of T, of a range of whole days.
    func sums(from interval: Interval, range: Interval) -> CellSums {
        var sums: CellSums = [:]
        for table in tables { table.sums(from: interval, range: range, into: &sums) }
        return sums
    }

    /// The sums at T, of a range of whole days, by month.
    func monthlySums(at instant: Instant, range: Interval) -> [CalendarDay: CellSums] {
        var sums: [CalendarDay: CellSums] = [:]
        for table in tables {
            table.monthlySums(from: Interval(upTo: instant), range: range, into: &sums)
        }
        return sums
    }
}

extension Interval {
    /// All up to an instant, and that itself.
    fileprivate init(upTo instant: Instant) {
        let last = Instant(milliseconds: .max)
        self.init(
            start: Instant(milliseconds: .min),
            end: instant == last ? nil : instant.advanced(byMilliseconds: 1)
        )
    }
}
