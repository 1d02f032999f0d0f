import Encodings

/// What subjects add to a report, step by step: each from an instant of T on.
///
/// A report at T is the sum of the steps up to T (law 3). Before `exactFrom` steps are told by the
/// beginnings of `grain`, so that there are few of them: there a T between two beginnings cannot be
/// asked about.
package struct StepTable: Sendable {
    /// From here on every T can be asked about.
    package private(set) var exactFrom: Instant
    /// Milliseconds between the instants before that can; they divide a day.
    package let grain: Int64
    /// What steps are about, by number.
    package private(set) var cells: [ReportCell] = []
    /// The steps; ascending and each once after `settle`.
    package private(set) var steps: [Step] = []
    private var numbers: [ReportCell: UInt32] = [:]
    /// Steps that are in their order.
    private var settledCount = 0

    /// A change of a cell's sum.
    package struct Step: Sendable, Hashable {
        /// The first T that it counts at.
        package var from: Instant
        /// The day that a range must hold for it to count; days since 1970-01-01.
        package var day: Int32
        /// The cell's number.
        package var cell: UInt32
        /// What the sum changes by.
        package var amount: Int64

        /// Makes a step.
        package init(from: Instant, day: Int32, cell: UInt32, amount: Int64) {
            self.from = from
            self.day = day
            self.cell = cell
            self.amount = amount
        }

        fileprivate func isSamePlace(as other: Step) -> Bool {
            from == other.from && day == other.day && cell == other.cell
        }

        fileprivate static func inOrder(_ left: Step, _ right: Step) -> Bool {
            (left.from, left.day, left.cell) < (right.from, right.day, right.cell)
        }
    }

    /// Makes an empty table.
    ///
    /// - Precondition: a day is a multiple of `grain`, which is positive.
    package init(exactFrom: Instant, grain: Int64) {
        precondition(grain > 0 && Instant.millisecondsPerDay % grain == 0, "grains fill a day")
        self.exactFrom = exactFrom
        self.grain = grain
    }

    /// A table of no steps that tells the same instants.
    package var emptied: StepTable { StepTable(exactFrom: exactFrom, grain: grain) }

    /// Makes a table of steps that stand; nil where they are not in order, or of no cell.
    package init?(exactFrom: Instant, grain: Int64, cells: [ReportCell], steps: [Step]) {
        self.init(exactFrom: exactFrom, grain: grain)
        let areInOrder = zip(steps, steps.dropFirst()).allSatisfy {
            !Step.inOrder($1, $0)
        }
        guard areInOrder, steps.allSatisfy({ $0.cell < cells.count }) else { return nil }
        self.cells = cells
        self.steps = steps
        settledCount = steps.count
        for (number, cell) in cells.enumerated() { numbers[cell] = UInt32(number) }
        guard numbers.count == cells.count else { return nil }
    }

    // MARK: Adding

    /// Adds to a cell's sum from an instant of T on.
    ///
    /// `day`: the day that a range must hold for it to count; nil: it counts in all.
    package mutating func add(
        _ amount: Int128,
        to cell: ReportCell,
        from instant: Instant,
        day: CalendarDay? = nil
    ) {
        add(
            amount,
            from: instant,
            day: day.map { Int32(clamping: $0.number) } ?? 0,
            cell: number(of: cell)
        )
    }

    private mutating func number(of cell: ReportCell) -> UInt32 {
        if let known = numbers[cell] { return known }
        let number = UInt32(cells.count)
        numbers[cell] = number
        cells.append(cell)
        return number
    }

    private mutating func add(_ amount: Int128, from instant: Instant, day: Int32, cell: UInt32) {
        Self.append(amount, from: told(instant), day: day, cell: cell, to: &steps)
    }

    /// Appends an amount, in as many steps as it takes.
    private static func append(
        _ amount: Int128,
        from instant: Instant,
        day: Int32,
        cell: UInt32,
        to steps: inout [Step]
    ) {
        var rest = amount
        while rest != 0 {
            let part = Int64(clamping: rest)
            steps.append(Step(from: instant, day: day, cell: cell, amount: part))
            rest -= Int128(part)
        }
    }

    /// Adds the steps of another table of the same grain, or with -1 times takes them out.
    package mutating func merge(_ other: StepTable, times: Int = 1) {
        precondition(grain == other.grain, "tables of one report have one grain")
        let numbers = other.cells.map { number(of: $0) }
        for step in other.steps {
            add(
                Int128(step.amount) * Int128(times),
                from: step.from,
                day: step.day,
                cell: numbers[Int(step.cell)]
            )
        }
    }

    /// Brings the steps into their order, and those of one place together.
    ///
    /// Cost: O(n) in all steps, and the order of those that came since.
    package mutating func settle() {
        guard settledCount < steps.count else { return }
        var added = Array(steps[settledCount...])
        added.sort(by: Step.inOrder)
        var merged: [Step] = []
        merged.reserveCapacity(steps.count)
        var (old, new) = (0, 0)
        var open: Step?
        var sum: Int128 = 0
        func close() {
            guard let open else { return }
            Self.append(sum, from: open.from, day: open.day, cell: open.cell, to: &merged)
        }
        while old < settledCount || new < added.count {
            let takesOld =
                new == added.count || (old < settledCount && !Step.inOrder(added[new], steps[old]))
            let step = takesOld ? steps[old] : added[new]
            if takesOld { old += 1 } else { new += 1 }
            if open?.isSamePlace(as: step) != true {
                close()
                (open, sum) = (step, 0)
            }
            // Fits: so many steps are in no memory.
            sum += Int128(step.amount)
        }
        close()
        steps = merged
        settledCount = merged.count
    }

    /// Tells what lies before an instant by the grain from now on; never takes that back.
    package mutating func coarsen(before instant: Instant) {
        guard instant > exactFrom else { return }
        settle()
        let first = firstStep(from: exactFrom)
        exactFrom = instant
        settledCount = first
        for index in first..<steps.count { steps[index].from = told(steps[index].from) }
        settle()
    }

    /// An instant as it is told: before `exactFrom` the next beginning of a grain.
    private func told(_ instant: Instant) -> Instant {
        guard instant < exactFrom, instant > Instant(milliseconds: .min) else { return instant }
        let (quotient, rest) = floorDivide(instant.milliseconds, by: grain)
        guard rest != 0 else { return instant }
        let (next, overflow) = (quotient + 1).multipliedReportingOverflow(by: grain)
        // Where no grain begins before it, the exact part does.
        return overflow ? exactFrom : min(exactFrom, Instant(milliseconds: next))
    }

    // MARK: Asking

    /// Whether the sums at an instant can be told.
    package func tells(_ instant: Instant) -> Bool {
        instant >= exactFrom || instant == Instant(milliseconds: .min)
            || floorDivide(instant.milliseconds, by: grain).rest == 0
    }

    /// The sums of the steps of an interval of T whose days lie in a range of whole days.
    ///
    /// - Precondition: the table is settled.
    ///
    /// Cost: O(n) in the steps of the interval, and the cells.
    package func sums(
        from interval: Interval,
        range: Interval,
        into sums: inout CellSums
    ) {
        let isWhole = isWhole(range)
        var totals = [Int128](repeating: 0, count: cells.count)
        for step in slice(interval) where isWhole || Self.lies(step.day, in: range) {
            // Fits: so many steps are in no memory.
            totals[Int(step.cell)] += Int128(step.amount)
        }
        for (number, total) in totals.enumerated() where total != 0 {
            sums[cells[number], default: 0] += total
        }
    }

    /// The same by the month of the days, which its first day names.
    package func monthlySums(
        from interval: Interval,
        range: Interval,
        into sums: inout [CalendarDay: CellSums]
    ) {
        var months: [Int32: CalendarDay] = [:]
        var totals: [CalendarDay: [Int128]] = [:]
        var last: (day: Int32, month: CalendarDay)?
        let isWhole = isWhole(range)
        for step in slice(interval) where isWhole || Self.lies(step.day, in: range) {
            let month: CalendarDay
            if let last, last.day == step.day {
                month = last.month
            } else {
                let number = Int64(step.day)
                month = months[step.day] ?? CalendarDay(number: number).firstOfMonth
                months[step.day] = month
                last = (step.day, month)
            }
            totals[month, default: Array(repeating: 0, count: cells.count)][Int(step.cell)] +=
                Int128(step.amount)
        }
        for (month, totals) in totals {
            for (number, total) in totals.enumerated() where total != 0 {
                sums[month, default: [:]][cells[number], default: 0] += total
            }
        }
    }

    private func isWhole(_ range: Interval) -> Bool {
        range.end == nil && range.start == Instant(milliseconds: .min)
    }

    private static func lies(_ day: Int32, in range: Interval) -> Bool {
        CalendarDay(number: Int64(day)).isIn(range)
    }

    private func slice(_ interval: Interval) -> ArraySlice<Step> {
        precondition(settledCount == steps.count, "a table is settled before it is asked")
        let start = firstStep(from: interval.start)
        let end = interval.end.map { firstStep(from: $0) } ?? steps.count
        return steps[start..<max(start, end)]
    }

    /// The first step at or after an instant.
    private func firstStep(from instant: Instant) -> Int {
        var (low, high) = (0, steps.count)
        while low < high {
            let middle = low + (high - low) / 2
            if steps[middle].from < instant { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
