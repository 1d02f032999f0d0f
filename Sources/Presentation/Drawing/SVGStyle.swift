/// Colours and patterns of drawings, light and dark.
///
/// Rules are written out for both: not everything that shows SVG knows variables.
enum SVGStyle {
    /// Colours on a light page and on a dark one.
    ///
    /// Text and bars differ from the page by 4.5 to 1 (WCAG 2.2, 1.4.3).
    private static let colours: [(name: String, light: String, dark: String)] = [
        ("page", "#ffffff", "#14171c"), ("ink", "#1b2028", "#e8eaee"),
        ("muted", "#5a6270", "#a3abb8"), ("line", "#d5d9e0", "#333a45"),
        ("info", "#1f5fc4", "#7fb0ff"), ("trial", "#7a3fc0", "#c39bff"),
        ("grant", "#0d7a5f", "#5fd0ae"), ("warn", "#9a5b00", "#f0b252"),
        ("bad", "#b3261e", "#ff8f85"), ("accent", "#b0186f", "#ff8ac4"),
    ]

    /// A bar's colour and how it is filled.
    private static let bars: [(kind: TimelineChart.BarKind, colour: String, fill: Fill)] = [
        (.tier, "ink", .outline), (.free, "muted", .outline), (.active, "info", .solid),
        (.trial, "trial", .hatch(6)), (.grant, "grant", .dots), (.grace, "warn", .hatch(3)),
        (.retry, "warn", .outline), (.paused, "muted", .dotted), (.revoked, "bad", .cross),
        (.unverified, "bad", .dotted), (.pending, "muted", .hatch(8)),
    ]

    private static let marks: [(kind: TimelineChart.MarkKind, colour: String)] = [
        (.begins, "info"), (.ends, "muted"), (.change, "ink"), (.taken, "bad"), (.trouble, "warn"),
    ]

    /// The style sheet.
    static let sheet: String =
        """
        .tl text{font:12px system-ui,sans-serif;unicode-bidi:isolate}\
        .tl .axis path,.tl .at,.tl .known,.tl .late{fill:none;vector-effect:non-scaling-stroke}\
        .tl .axis text{text-anchor:middle;font-size:11px}\
        .tl .at{stroke-width:1.5}.tl .known{stroke-width:1.5;stroke-dasharray:6 4}\
        .tl .lane text,.tl .legend text{paint-order:stroke;stroke-width:3px}\
        .tl .late{stroke-dasharray:3 3}.tl .bar{stroke-width:1.2}.tl .future{opacity:.45}\
        .tl .paused .bar,.tl .unverified .bar{stroke-dasharray:2 3}
        """ + rules(\.light) + "@media (prefers-color-scheme: dark){" + rules(\.dark) + "}"

    private typealias Colour = (name: String, light: String, dark: String)

    private static func rules(_ side: (Colour) -> String) -> String {
        func colour(_ name: String) -> String {
            colours.first { $0.name == name }.map(side) ?? "none"
        }
        var text = ".tl .page{fill:\(colour("page"))}.tl text{fill:\(colour("ink"))}"
        text += ".tl .axis path{stroke:\(colour("line"))}.tl .axis text{fill:\(colour("muted"))}"
        text += ".tl .at{stroke:\(colour("ink"))}.tl .known,.tl .late{stroke:\(colour("accent"))}"
        for (kind, name, fill) in bars {
            let pattern = "url(#tl-\(kind.rawValue))"
            let inside = fill.tile != nil ? pattern : fill.isSolid ? colour(name) : "none"
            text += ".tl .\(kind.rawValue) .bar{fill:\(inside);stroke:\(colour(name))}"
            text += ".tl .p-\(kind.rawValue){stroke:\(colour(name));fill:\(colour(name))}"
            text += ".tl .\(kind.rawValue) text{"
            // A letter on a pattern stands out from it.
            text += fill.isSolid ? "fill:\(colour("page"))}" : "stroke:\(colour("page"))}"
        }
        for (kind, name) in marks {
            text += ".tl .\(kind.rawValue) path:not(.late){fill:\(colour(name))}"
        }
        return text
    }

    /// The patterns of bars, by their kinds.
    static func writePatterns(to xml: inout XMLText) {
        for (kind, _, fill) in bars {
            guard let (size, path) = fill.tile else { continue }
            xml.element(
                "pattern",
                [
                    "id": "tl-" + kind.rawValue, "width": "\(size)", "height": "\(size)",
                    "patternUnits": "userSpaceOnUse",
                ]
            ) { xml in
                xml.element("path", ["class": "p-" + kind.rawValue, "d": path])
            }
        }
    }
}

/// What is inside a bar.
private enum Fill {
    case solid, outline, dotted, dots, cross
    /// Slanted lines so far apart.
    case hatch(Int)

    var isSolid: Bool {
        if case .solid = self { return true }
        return false
    }

    /// The side of a pattern's tile and what is drawn in it; nil: it is none.
    var tile: (size: Int, path: String)? {
        switch self {
        case .solid, .outline, .dotted: nil
        case .dots: (6, "M2.5 3h1v1h-1z")
        case .cross: (8, "M0 0L8 8M8 0L0 8")
        case .hatch(let size):
            (size, "M0 \(size)L\(size) 0M-1 1L1 -1M\(size - 1) \(size + 1)L\(size + 1) \(size - 1)")
        }
    }
}
