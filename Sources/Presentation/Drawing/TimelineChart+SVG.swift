import Entitlements

extension TimelineChart {
    /// The chart as a document of SVG 1.1 that stands alone: no script, no font, no reference to
    /// anything outside; light or dark by `prefers-color-scheme`.
    ///
    /// Every text of the answer is escaped. The same chart gives the same bytes. Size: bounded by
    /// the lanes and their bars; events that fall on one place are one mark.
    package var svg: String {
        var xml = XMLText()
        write(to: &xml, isStyled: true)
        return xml.text + "\n"
    }

    /// The chart inside a page.
    ///
    /// `isStyled`: whether it brings its style; a page whose stylesheet has it needs none.
    package func write(to xml: inout XMLText, isStyled: Bool) {
        let layout = SVGLayout(self)
        xml.element(
            "svg",
            [
                "xmlns": "http://www.w3.org/2000/svg", "role": "img", "class": "tl",
                "viewBox": "0 0 \(SVGLayout.width) \(layout.height)",
                "width": "\(SVGLayout.width)", "height": "\(layout.height)",
                "preserveAspectRatio": "xMinYMin meet", "aria-labelledby": "tl-title",
                "aria-describedby": "tl-desc",
            ]
        ) { xml in
            xml.element("title", ["id": "tl-title"]) { $0.write(title) }
            xml.element("desc", ["id": "tl-desc"]) { $0.write(summary) }
            if isStyled { xml.element("style") { $0.write(SVGStyle.sheet) } }
            xml.element("defs") { SVGStyle.writePatterns(to: &$0) }
            xml.element("rect", ["class": "page", "width": "100%", "height": "100%"])
            layout.writeAxis(to: &xml)
            for (index, lane) in lanes.enumerated() { layout.write(lane, index, to: &xml) }
            layout.writeMarks(to: &xml)
            layout.writeLegend(to: &xml)
        }
    }
}

/// Where things of a chart are drawn; places are tenths of a unit until they are written.
private struct SVGLayout {
    let chart: TimelineChart

    static let width = 960
    private static let left: Int64 = 180
    /// Half a label is left free on the right.
    private static let plot: Int64 = 744
    private static let top: Int64 = 34
    private static let laneHeight: Int64 = 28
    private static let barHeight: Int64 = 18
    private static let eventsHeight: Int64 = 44
    private static let legendHeight: Int64 = 34
    /// Characters of a lane's name that have room; the whole is its tip.
    private static let labelLimit = 24
    /// A bar that is narrower bears no letter, in tenths.
    private static let leastLettered: Int64 = 140

    init(_ chart: TimelineChart) { self.chart = chart }

    private var lanesEnd: Int64 { Self.top + Self.laneHeight * Int64(chart.lanes.count) }
    private var moreHeight: Int64 { chart.hiddenLanes > 0 ? 18 : 0 }
    private var eventsEnd: Int64 { lanesEnd + moreHeight + Self.eventsHeight }
    var height: Int64 { eventsEnd + Self.legendHeight * (chart.marks.isEmpty ? 1 : 2) }

    /// Tenths of a unit from the left edge.
    private func x(_ instant: Instant) -> Int64 {
        Self.left * 10 + chart.axis.place(instant, width: Self.plot * 10)
    }

    private static func text(_ tenths: Int64) -> String {
        tenths % 10 == 0 ? "\(tenths / 10)" : "\(tenths / 10).\(tenths % 10)"
    }

    private static func label(_ xml: inout XMLText, _ x: String, _ y: Int64, _ label: String) {
        xml.element("text", ["x": x, "y": "\(y)"]) { $0.write(label) }
    }

    // MARK: Axis

    func writeAxis(to xml: inout XMLText) {
        xml.element("g", ["class": "axis"]) { xml in
            for tick in chart.axis.ticks {
                let x = Self.text(x(tick.instant))
                xml.element("path", ["d": "M\(x) \(Self.top - 6)V\(eventsEnd - 4)"])
                Self.label(&xml, x, Self.top - 12, tick.label)
            }
        }
        writeLine("at", chart.at, "asked for", to: &xml)
        if let known = chart.known, chart.axis.contains(known) {
            writeLine("known", known, "as known at", to: &xml)
        }
    }

    private func writeLine(
        _ style: String,
        _ instant: Instant,
        _ words: String,
        to xml: inout XMLText
    ) {
        let x = Self.text(x(instant))
        xml.element("path", ["class": style, "d": "M\(x) \(Self.top - 8)V\(eventsEnd)"]) { xml in
            xml.element("title") { $0.write("\(words) \(instant.brief)") }
        }
    }

    // MARK: Lanes

    func write(_ lane: TimelineChart.Lane, _ index: Int, to xml: inout XMLText) {
        let y = Self.top + Self.laneHeight * Int64(index)
        xml.element("g", ["class": "lane"]) { xml in
            // A view of its own clips a long name; its whole text is the tip.
            xml.element(
                "svg",
                [
                    "x": "0", "y": "\(y)", "width": "\(Self.left - 8)",
                    "height": "\(Self.laneHeight)",
                ]
            ) { xml in
                xml.element("title") { $0.write(lane.label) }
                Self.label(
                    &xml,
                    "4",
                    18,
                    TimelineChart.shortened(lane.label, to: Self.labelLimit)
                )
            }
            for bar in lane.bars { write(bar, y, to: &xml) }
        }
    }

    private func write(_ bar: TimelineChart.Bar, _ y: Int64, to xml: inout XMLText) {
        let axis = chart.axis
        guard bar.interval.start <= axis.end, bar.interval.end.map({ $0 > axis.start }) ?? true
        else { return }
        let first = x(bar.interval.start)
        let end = max(x(bar.interval.end ?? axis.end), first + 10)
        let now = min(max(x(chart.at), first), end)
        let top = y + (Self.laneHeight - Self.barHeight) / 2
        xml.element("g", ["class": bar.kind.rawValue]) { xml in
            xml.element("title") { xml in
                let until = bar.interval.end.map { " to \($0.brief)" } ?? ", without end"
                xml.write("\(bar.value): \(bar.interval.start.brief)\(until)")
            }
            // What lies behind T has not come yet.
            for (style, from, to) in [("bar", first, now), ("bar future", now, end)]
            where to > from {
                xml.element(
                    "rect",
                    [
                        "class": style, "x": Self.text(from), "y": "\(top)",
                        "width": Self.text(to - from), "height": "\(Self.barHeight)", "rx": "3",
                    ]
                )
            }
            if end - first >= Self.leastLettered {
                let letter = bar.kind == .tier ? bar.value : String(bar.kind.letter)
                let isShort = Int64(letter.count) * 80 > end - first
                Self.label(
                    &xml,
                    Self.text(first + 40),
                    top + 13,
                    isShort ? String(bar.kind.letter) : letter
                )
            }
        }
    }

    // MARK: Events

    /// Marks that fall on one unit, of one kind: one mark.
    private struct Cluster {
        var place: Int64
        var kind: TimelineChart.MarkKind
        var isLate: Bool
        var marks: [TimelineChart.Mark]
    }

    private var clusters: [Cluster] {
        var clusters: [Cluster] = []
        // Marks ascend by time: those of one place follow one another.
        for mark in chart.marks {
            let place = (x(mark.time) + 5) / 10
            let index = clusters.indices.reversed().prefix { clusters[$0].place == place }
                .first { clusters[$0].kind == mark.kind && clusters[$0].isLate == mark.isLate }
            if let index {
                clusters[index].marks.append(mark)
            } else {
                clusters.append(
                    Cluster(place: place, kind: mark.kind, isLate: mark.isLate, marks: [mark])
                )
            }
        }
        return clusters
    }

    func writeMarks(to xml: inout XMLText) {
        if chart.hiddenLanes > 0 {
            Self.label(&xml, "4", lanesEnd + 12, "… \(chart.hiddenLanes) more lanes")
        }
        let y = lanesEnd + moreHeight + 16
        xml.element("g", ["class": "events"]) { xml in
            Self.label(&xml, "4", y + 4, "events")
            let clusters = clusters
            // What changes no access goes behind what does.
            write(clusters.filter { $0.kind == .change }, y, to: &xml)
            write(clusters.filter { $0.kind != .change }, y, to: &xml)
        }
    }

    /// Writes marks in their order; those of one kind that follow one another say so once.
    private func write(_ clusters: [Cluster], _ y: Int64, to xml: inout XMLText) {
        var rest = clusters[...]
        while let kind = rest.first?.kind {
            let run = rest.prefix { $0.kind == kind }
            rest = rest.dropFirst(run.count)
            xml.element("g", ["class": kind.rawValue]) { xml in
                for cluster in run { write(cluster, y, to: &xml) }
            }
        }
    }

    private func write(_ cluster: Cluster, _ y: Int64, to xml: inout XMLText) {
        xml.element("g") { xml in
            xml.element("title") { $0.write(Self.words(cluster)) }
            if cluster.isLate, let learned = cluster.marks.map(\.recordedAt).max() {
                // From when it held, below the marks, to when it was learned.
                let end = Self.text(x(learned))
                xml.element(
                    "path",
                    ["class": "late", "d": "M\(cluster.place) \(y)v14H\(end)m-4-3l4 3-4 3"]
                )
            }
            xml.element("path", ["d": Self.shape(cluster.kind, cluster.place, y)])
        }
    }

    private static func words(_ cluster: Cluster) -> String {
        let shown = cluster.marks.prefix(5).map { mark in
            "\(mark.type) \(mark.time.brief)"
                + (mark.isLate ? ", learned \(mark.recordedAt.brief)" : "")
        }
        let more = cluster.marks.count - shown.count
        return shown.joined(separator: "; ") + (more > 0 ? "; \(more) more" : "")
    }

    // MARK: Legend

    func writeLegend(to xml: inout XMLText) {
        let kinds = Set(chart.lanes.flatMap(\.bars).map(\.kind))
        let y = eventsEnd + 8
        var x: Int64 = 4
        xml.element("g", ["class": "legend"]) { xml in
            for kind in TimelineChart.BarKind.allCases where kinds.contains(kind) {
                xml.element("g", ["class": kind.rawValue]) { xml in
                    xml.element(
                        "rect",
                        [
                            "class": "bar", "x": "\(x)", "y": "\(y)", "width": "18",
                            "height": "14", "rx": "3",
                        ]
                    )
                    Self.label(&xml, "\(x + 5)", y + 11, String(kind.letter))
                }
                Self.label(&xml, "\(x + 23)", y + 11, kind.word)
                x += 36 + Int64(kind.word.count) * 7
            }
        }
        writeMarkLegend(y + Self.legendHeight - 8, to: &xml)
    }

    private func writeMarkLegend(_ y: Int64, to xml: inout XMLText) {
        var x: Int64 = 9
        xml.element("g", ["class": "events"]) { xml in
            for kind in chart.markKinds {
                xml.element("g", ["class": kind.rawValue]) { xml in
                    xml.element("path", ["d": Self.shape(kind, x, y)])
                }
                Self.label(&xml, "\(x + 10)", y + 4, kind.word)
                x += 32 + Int64(kind.word.count) * 7
            }
        }
    }

    /// A path around a place.
    private static func shape(_ kind: TimelineChart.MarkKind, _ x: Int64, _ y: Int64) -> String {
        switch kind {
        case .begins: "M\(x) \(y - 5)l5 9h-10z"
        case .ends: "M\(x) \(y + 5)l5-9h-10z"
        case .change: "M\(x) \(y - 5)l5 5-5 5-5-5z"
        case .taken: "M\(x - 5) \(y - 3)l2-2 3 3 3-3 2 2-3 3 3 3-2 2-3-3-3 3-2-2 3-3z"
        case .trouble: "M\(text(x * 10 - 15)) \(y - 6)h3l-.5 7h-2zm.3 8.5h2.4v2.5h-2.4z"
        }
    }
}
