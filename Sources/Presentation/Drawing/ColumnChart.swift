/// Values over time as columns, one part over the other: drawn on the server, coloured by the page's style
/// sheet.
package struct ColumnChart: Sendable {
    /// Unique on its page.
    package var id: String
    /// What it shows.
    package var title: String
    /// What is to be seen in it, in a sentence.
    package var summary: String
    /// What the parts of a column are, from the bottom; three at most.
    package var series: [String]
    /// From the first to the last.
    package var columns: [Column]

    /// A column.
    package struct Column: Sendable {
        /// What it is of.
        package var label: String
        /// Where it leads; nil: nowhere.
        package var path: String?
        /// The value of each part; what is below zero hangs below the line.
        package var values: [Double]
        /// The values in words.
        package var tip: String

        /// Makes a column.
        package init(label: String, path: String?, values: [Double], tip: String) {
            self.label = label
            self.path = path
            self.values = values
            self.tip = tip
        }
    }

    /// Makes a chart.
    package init(
        id: String,
        title: String,
        summary: String,
        series: [String],
        columns: [Column]
    ) {
        self.id = id
        self.title = title
        self.summary = summary
        self.series = series
        self.columns = columns
    }

    private static let height = 220
    private static let left = 72.0
    private static let top = 12.0
    private static let plotWidth = 880.0
    private static let plotHeight = 176.0
    /// Labels below the columns, at most.
    private static let labelLimit = 8
    /// The names of the classes of the parts, in their order.
    static let styles = ["a", "b", "c"]

    /// Writes the drawing; nothing where there is no value.
    ///
    /// The same chart gives the same bytes.
    package func write(to page: inout XMLText) {
        guard !isEmpty else { return }
        page.chart(id, title, summary, height: Self.height) { svg in
            writeScale(to: &svg)
            for place in columns.indices { write(place, to: &svg) }
        }
        writeLegend(to: &page)
    }

    /// Whether nothing is to be drawn.
    package var isEmpty: Bool { columns.allSatisfy { $0.values.allSatisfy { $0 == 0 } } }

    private var highest: Double {
        columns.map { $0.values.filter { $0 > 0 }.reduce(0, +) }.max() ?? 0
    }

    private var lowest: Double {
        columns.map { $0.values.filter { $0 < 0 }.reduce(0, +) }.min() ?? 0
    }

    private var step: Double { NiceScale.step(for: highest - lowest) }
    private var ceiling: Double { (highest / step).rounded(.up) * step }
    private var floor: Double { (lowest / step).rounded(.down) * step }

    private func y(_ value: Double) -> Double {
        Self.top + (ceiling - value) / (ceiling - floor) * Self.plotHeight
    }

    private func writeScale(to svg: inout XMLText) {
        var value = floor
        // Half a step more: sums of steps are not exact.
        while value <= ceiling + step / 2 {
            let height = NiceScale.text(y(value))
            svg.element(
                "path",
                ["class": "axis", "d": "M\(NiceScale.text(Self.left)) \(height)h880"]
            )
            svg.element(
                "text",
                [
                    "class": "scale", "text-anchor": "end", "x": NiceScale.text(Self.left - 8),
                    "y": NiceScale.text(y(value) + 4),
                ]
            ) { $0.write(NiceScale.label(value)) }
            value += step
        }
    }

    private func write(_ place: Int, to svg: inout XMLText) {
        let column = columns[place]
        let room = Self.plotWidth / Double(columns.count)
        let x = Self.left + room * Double(place) + room * 0.1
        func draw(to svg: inout XMLText) {
            svg.element("title") { $0.write("\(column.label): \(column.tip)") }
            var (above, below) = (0.0, 0.0)
            for (style, value) in zip(Self.styles, column.values) where value != 0 {
                let start = value > 0 ? above : below
                let (first, last) = (y(start), y(start + value))
                if value > 0 { above += value } else { below += value }
                svg.element(
                    "rect",
                    [
                        "class": style, "x": NiceScale.text(x),
                        "y": NiceScale.text(min(first, last)),
                        "width": NiceScale.text(room * 0.8),
                        "height": NiceScale.text(abs(first - last)),
                    ]
                )
            }
        }
        if let path = column.path, column.values.contains(where: { $0 != 0 }) {
            svg.element("a", ["href": path, "aria-label": "\(column.label): \(column.tip)"]) {
                draw(to: &$0)
            }
        } else {
            svg.element("g") { draw(to: &$0) }
        }
        let every = (columns.count + Self.labelLimit - 1) / Self.labelLimit
        guard place % every == 0 else { return }
        svg.element(
            "text",
            [
                "class": "tick", "text-anchor": "middle", "x": NiceScale.text(x + room * 0.4),
                "y": "\(Self.height - 8)",
            ]
        ) { $0.write(column.label) }
    }

    private func writeLegend(to page: inout XMLText) {
        guard series.count > 1 else { return }
        page.element("ul", ["class": "legend"]) { list in
            for (style, name) in zip(Self.styles, series) {
                list.element("li", ["class": "key-" + style]) { $0.write(name) }
            }
        }
    }
}

/// A scale whose steps people count by.
enum NiceScale {
    /// Steps of a scale, about.
    private static let stepCount = 4.0

    /// A step of 1, 2 or 5 times a power of ten.
    static func step(for span: Double) -> Double {
        guard span > 0 else { return 1 }
        var power = 1.0
        while power * 10 <= span / stepCount { power *= 10 }
        while power > span / stepCount { power /= 10 }
        return [1.0, 2, 5, 10].map { $0 * power }.first { $0 >= span / stepCount } ?? power
    }

    /// A coordinate, to a tenth.
    static func text(_ value: Double) -> String {
        let tenths = Int((value * 10).rounded())
        let sign = tenths < 0 ? "-" : ""
        let (whole, rest) = abs(tenths).quotientAndRemainder(dividingBy: 10)
        return sign + (rest == 0 ? "\(whole)" : "\(whole).\(rest)")
    }

    /// A value at the scale: short, with a letter for large ones.
    static func label(_ value: Double) -> String {
        for (unit, letter) in [(1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")]
        where abs(value) >= unit {
            return text(value / unit) + letter
        }
        return abs(value) < 1 && value != 0 ? "\((value * 1000).rounded() / 1000)" : text(value)
    }
}
