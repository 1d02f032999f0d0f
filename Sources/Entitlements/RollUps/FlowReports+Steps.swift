import Encodings

/// Flows as they come to stand, step by step (row 10.1).
///
/// The figure is the end's kind, 0 for none.
extension FunnelReport {
    /// Adds the steps of the flows of one customer id; `facts` in any order.
    package static func addSteps(
        of facts: some Collection<FlowFact>,
        _ names: FactNames,
        to table: inout StepTable
    ) {
        for (_, facts) in Dictionary(grouping: facts, by: \.flow) {
            let facts = facts.sorted(by: FlowFact.inTime)
            let day = CalendarDay(facts[0].time)
            var standing = Standing()
            var last: ReportCell?
            for (index, fact) in facts.enumerated() {
                standing.hear(fact, names)
                // Those of one time count at once.
                if index + 1 < facts.count, facts[index + 1].time == fact.time { continue }
                let cell = ReportCell(
                    standing.end?.rawValue ?? 0,
                    standing.key.productID,
                    standing.key.platform
                )
                guard cell != last else { continue }
                if let last { table.add(-1, to: last, from: fact.time, day: day) }
                table.add(1, to: cell, from: fact.time, day: day)
                last = cell
            }
        }
    }

    /// The report that sums of steps give.
    package init(_ sums: CellSums) {
        var lines: [Key: Line] = [:]
        for (cell, sum) in sums where sum != 0 {
            let key = Key(productID: cell.first?.text, platform: cell.second?.text)
            lines[key, default: Line()].flows += Int(clamping: sum)
            guard let end = EventKind(rawValue: cell.figure) else { continue }
            lines[key, default: Line()].ends[end, default: 0] += Int(clamping: sum)
        }
        self.init(lines: lines)
    }
}

/// Stages as they are told, each from its time on (row 10.3).
extension StageReport {
    /// Adds the stages of one statement.
    package static func addSteps(
        of fact: FlowFact,
        _ names: FactNames,
        to table: inout StepTable
    ) {
        for stage in fact.stages {
            table.add(
                1,
                to: ReportCell(0, names[stage.name], number: stage.milliseconds),
                from: fact.time,
                day: CalendarDay(fact.time)
            )
        }
    }

    /// The report that sums of steps give.
    package init(_ sums: CellSums) {
        var stages: [Name: [Int64: Int]] = [:]
        for (cell, sum) in sums where sum != 0 {
            guard let name = cell.first else { continue }
            stages[name, default: [:]][cell.number] = Int(clamping: sum)
        }
        self.init(stages: stages)
    }
}
