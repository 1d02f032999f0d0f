import Encodings

/// Errors and attempts as they are told, each from its time on (row 10.5).
extension ErrorReport {
    private static let attempt: UInt8 = 0
    /// Who met an error, from 1 by their order.
    private static let origins = Origin.allCases

    /// Adds errors of one code.
    package static func addSteps(
        of key: Key,
        at time: Instant,
        count: Int = 1,
        to table: inout StepTable
    ) {
        guard let index = origins.firstIndex(of: key.origin) else { return }
        table.add(
            Int128(count),
            to: ReportCell(UInt8(index + 1), key.code),
            from: time,
            day: CalendarDay(time)
        )
    }

    /// Adds a statement of a flow.
    package static func addSteps(
        of fact: FlowFact,
        _ names: FactNames,
        to table: inout StepTable
    ) {
        guard FlowFact.isEnd(fact.kind) else { return }
        table.add(
            1,
            to: ReportCell(attempt),
            from: fact.time,
            day: CalendarDay(fact.time)
        )
        if let key = key(of: fact, names) { addSteps(of: key, at: fact.time, to: &table) }
    }

    /// The report that sums of steps give: `sums` tells those of an interval of T and a range of days.
    package init(_ span: Span, _ sums: (_ from: Interval, _ range: Interval) -> CellSums) {
        let always = Interval(start: Instant(milliseconds: .min), end: nil)
        let known = Interval(start: always.start, end: span.window.end)
        let parts: [(CellSums, WritableKeyPath<Counts, Int>)] = [
            (sums(known, span.range), \.inRange), (sums(span.window, always), \.inWindow),
            (sums(span.baseline, always), \.inBaseline),
        ]
        var errors: [Key: Counts] = [:]
        var attempts = Counts()
        for (sums, part) in parts {
            for (cell, sum) in sums where sum != 0 {
                let count = Int(clamping: sum)
                if cell.figure == Self.attempt {
                    attempts[keyPath: part] = count
                } else if let code = cell.first?.text, cell.figure <= Self.origins.count {
                    let key = Key(origin: Self.origins[Int(cell.figure) - 1], code: code)
                    errors[key, default: Counts()][keyPath: part] = count
                }
            }
        }
        self.init(span, errors: errors, attempts: attempts)
    }
}
