/// Values by name as bars, the names before them: drawn on the server, coloured by the page's style sheet.
package struct BarChart: Sendable {
    /// Unique on its page.
    package var id: String
    /// What it shows.
    package var title: String
    /// What is to be seen in it, in a sentence.
    package var summary: String
    /// In their order.
    package var bars: [Bar]

    /// A bar.
    package struct Bar: Sendable {
        /// Its name.
        package var label: String
        /// How long it is.
        package var value: Double
        /// The value in words.
        package var text: String
        /// Where it leads; nil: nowhere.
        package var path: String?
        /// Whether it tells of something bad.
        package var isBad = false

        /// Makes a bar.
        package init(_ label: String, _ value: Double, _ text: String, path: String? = nil) {
            self.label = label
            self.value = value
            self.text = text
            self.path = path
        }
    }

    /// Makes a chart.
    package init(id: String, title: String, summary: String, bars: [Bar]) {
        self.id = id
        self.title = title
        self.summary = summary
        self.bars = bars
    }

    /// Bars that are drawn, at most.
    static let barLimit = 16
    private static let lane = 26
    private static let left = 220.0
    private static let plot = 640.0
    /// Characters of a name that have room; the whole is its tip.
    private static let labelLimit = 28

    /// Writes the drawing; nothing where there is no value.
    ///
    /// The same chart gives the same bytes.
    package func write(to page: inout XMLText) {
        let shown = bars.prefix(Self.barLimit)
        let most = shown.map(\.value).max() ?? 0
        guard most > 0 else { return }
        page.chart(id, title, summary, height: shown.count * Self.lane + 4) { svg in
            for (place, bar) in shown.enumerated() {
                if let path = bar.path {
                    svg.element("a", ["href": path, "aria-label": "\(bar.label): \(bar.text)"]) {
                        write(bar, place, most, to: &$0)
                    }
                } else {
                    svg.element("g") { write(bar, place, most, to: &$0) }
                }
            }
        }
    }

    private func write(_ bar: Bar, _ place: Int, _ most: Double, to svg: inout XMLText) {
        let y = place * Self.lane + 4
        let length = max(bar.value, 0) / most * Self.plot
        svg.element("title") { $0.write("\(bar.label): \(bar.text)") }
        svg.element("text", ["text-anchor": "end", "x": "212", "y": "\(y + 14)"]) {
            $0.write(TimelineChart.shortened(bar.label, to: Self.labelLimit))
        }
        svg.element(
            "rect",
            [
                "class": bar.isBad ? "c" : "a", "x": NiceScale.text(Self.left), "y": "\(y)",
                "width": NiceScale.text(length), "height": "18", "rx": "3",
            ]
        )
        svg.element(
            "text",
            ["x": NiceScale.text(Self.left + length + 6), "y": "\(y + 14)"]
        ) { $0.write(bar.text) }
    }
}
