extension TimelineChart {
    /// The chart as lines of characters: a row for each lane, the events below, a legend.
    ///
    /// `width`: columns for time, 10 or more; labels come beside them.
    public func text(width: Int) -> [String] {
        let width = max(10, width)
        let labelWidth = lanes.map { min($0.label.count, Self.labelLimit) }
            .reduce("events".count, max)
        func line(_ label: String, _ cells: [Character]) -> String {
            let isLong = label.count > Self.labelLimit
            let label = isLong ? label.prefix(Self.labelLimit - 1) + "…" : label
            return label + String(repeating: " ", count: labelWidth - label.count) + "  "
                + String(cells)
        }
        var lines = lanes.map { line($0.label, cells($0.bars, width)) }
        if hiddenLanes > 0 { lines.append("… \(hiddenLanes) more") }
        lines.append(line("events", eventCells(width)))
        if marks.contains(where: \.isLate) { lines.append(line("late", lateCells(width))) }
        lines.append(line("", rule(width)))
        lines.append(line("", Array("\(axis.start) to \(axis.end); | is \(at)")))
        lines.append(line("", Array(legend)))
        return lines
    }

    /// Characters of a name that are shown.
    private static let labelLimit = 32

    /// The kinds that occur, with their letters.
    private var legend: String {
        let kinds = Set(lanes.flatMap(\.bars).map(\.kind))
        let words = BarKind.allCases.filter(kinds.contains).map { "\($0.letter) \($0.word)" }
        return words.joined(separator: "  ")
    }

    private func column(_ instant: Instant, _ width: Int) -> Int {
        min(width - 1, Int(axis.place(instant, width: Int64(width))))
    }

    private func cells(_ bars: [Bar], _ width: Int) -> [Character] {
        var cells = [Character](repeating: "·", count: width)
        for bar in bars {
            guard bar.interval.start <= axis.end, bar.interval.end.map({ $0 > axis.start }) ?? true
            else { continue }
            let first = column(bar.interval.start, width)
            let end = bar.interval.end.map { column($0, width) } ?? width
            // Something that is shorter than a column is still seen.
            for index in first..<max(end, first + 1) { cells[index] = bar.kind.letter }
        }
        return cells
    }

    private func eventCells(_ width: Int) -> [Character] {
        var cells = [Character](repeating: " ", count: width)
        for mark in marks { cells[column(mark.time, width)] = mark.kind.letter }
        return cells
    }

    /// From what held, `o`, to when it was learned, `>`.
    private func lateCells(_ width: Int) -> [Character] {
        var cells = [Character](repeating: " ", count: width)
        for mark in marks where mark.isLate {
            let (first, last) = (column(mark.time, width), column(mark.recordedAt, width))
            for index in first..<max(last, first) where cells[index] == " " { cells[index] = "-" }
            cells[first] = "o"
            cells[last] = ">"
        }
        return cells
    }

    private func rule(_ width: Int) -> [Character] {
        var cells = [Character](repeating: "-", count: width)
        cells[column(at, width)] = "|"
        return cells
    }
}
