import Entitlements

extension TimelineChart {
    /// The chart as lines of characters: a row for each lane, the events below, a legend.
    ///
    /// `columns`: characters of a line; time has what names leave of them, 10 at least.
    package func text(columns: Int) -> [String] {
        let labels = lanes.map { Self.shortened($0.label, to: Self.labelLimit) }
        let labelWidth = labels.map(\.count).reduce("events".count, max)
        let width = max(10, columns - labelWidth - 2)
        func line(_ label: String, _ cells: [Character]) -> String {
            label.padded(to: labelWidth) + "  " + String(cells)
        }
        var lines = zip(labels, lanes).map { line($0, cells($1.bars, width)) }
        if hiddenLanes > 0 { lines.append("… \(hiddenLanes) more") }
        lines.append(line("events", eventCells(width)))
        if marks.contains(where: \.isLate) { lines.append(line("late", lateCells(width))) }
        lines.append(line("", rule(width)))
        lines.append("\(Self.day(axis.start)) to \(Self.day(axis.end)), | is \(at)")
        return lines + Self.wrapped(legend, columns)
    }

    /// Characters of a name that are shown.
    private static let labelLimit = 24

    private static func day(_ instant: Instant) -> Substring { instant.description.prefix(10) }

    /// What occurs, with its letters.
    private var legend: [String] {
        let kinds = Set(lanes.flatMap(\.bars).map(\.kind))
        return BarKind.allCases.filter(kinds.contains).map { "\($0.letter) \($0.word)" }
            + markKinds.map { "\($0.letter) \($0.word)" }
            + (marks.contains(where: \.isLate) ? ["o-> learned late"] : [])
    }

    /// Words in as few lines as hold them.
    private static func wrapped(_ words: [String], _ columns: Int) -> [String] {
        var lines: [String] = []
        for word in words {
            if let last = lines.last, last.count + 2 + word.count <= columns {
                lines[lines.count - 1] += "  " + word
            } else {
                lines.append(word)
            }
        }
        return lines
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
