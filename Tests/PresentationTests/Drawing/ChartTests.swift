import LedgerAPI
import Testing

@testable import Presentation

/// Columns and bars that the server draws.
struct `Charts of figures` {
    private static func chart(_ values: [[Double]]) -> ColumnChart {
        ColumnChart(
            id: "c",
            title: "Money",
            summary: "In <words>",
            series: ["in", "", "out"],
            columns: values.enumerated().map { place, values in
                ColumnChart.Column(
                    label: "m\(place)",
                    path: "/p?m=\(place)&x",
                    values: values,
                    tip: "t"
                )
            }
        )
    }

    private static func drawn(_ body: (inout XMLText) -> Void) -> String {
        var page = XMLText()
        body(&page)
        return page.text
    }

    @Test func `stack parts above the line, and hang what is below zero under it`() {
        let text = Self.drawn { Self.chart([[10, 0, -5], [20, 0, 0]]).write(to: &$0) }
        #expect(
            text.contains(#"<rect class="a" x="116" y="70.7" width="352" height="58.7"/>"#),
            "\(text)"
        )
        #expect(text.contains(#"<rect class="c" x="116" y="129.3" width="352" height="29.3"/>"#))
        // What is in a text is never markup, and neither a style nor a script stands in it.
        #expect(text.contains("In &lt;words&gt;"))
        #expect(text.contains(#"<a href="/p?m=0&amp;x" aria-label="m0: t">"#))
        #expect(!text.contains("style"))
    }

    @Test func `draw the same bytes for the same values, and nothing for none`() {
        let one = Self.drawn { Self.chart([[1.5, 0.25, 0]]).write(to: &$0) }
        let other = Self.drawn { Self.chart([[1.5, 0.25, 0]]).write(to: &$0) }
        #expect(one == other)
        #expect(Self.drawn { Self.chart([[0, 0, 0]]).write(to: &$0) }.isEmpty)
        #expect(Self.drawn { Self.chart([]).write(to: &$0) }.isEmpty)
    }

    @Test(arguments: [
        (0.0, 1.0), (1, 0.5), (4, 1), (7, 2), (10, 5), (30, 10), (100, 50), (123_456, 50_000),
        (0.07, 0.02),
    ])
    func `count by ones, twos and fives`(span: Double, step: Double) {
        #expect(abs(NiceScale.step(for: span) - step) < 1e-9, "\(NiceScale.step(for: span))")
    }

    @Test(arguments: [
        (1_500.0, "1.5k"), (2_000_000, "2M"), (-3_000, "-3k"), (12, "12"), (0.25, "0.25"),
    ])
    func `label a scale shortly`(value: Double, label: String) {
        #expect(NiceScale.label(value) == label)
    }

    @Test func `draw bars as long as their values, and tell what is bad`() {
        var bad = BarChart.Bar("failed", 5, "5", path: "/events")
        bad.isBad = true
        let chart = BarChart(
            id: "b",
            title: "Ends",
            summary: "Most",
            bars: [BarChart.Bar("a<b", 10, "10"), bad]
        )
        let text = Self.drawn { chart.write(to: &$0) }
        #expect(text.contains(#"class="a" x="220" y="4" width="640""#))
        #expect(text.contains(#"class="c" x="220" y="30" width="320""#))
        #expect(text.contains("a&lt;b"))
    }

    @Test(arguments: [
        ("1234567.89", "1,234,567.89"), ("-1234", "-1,234"), ("12", "12"), ("", ""),
        ("123", "123"),
    ])
    func `group digits`(text: String, grouped: String) {
        #expect(NumberText.grouped(text) == grouped)
    }
}
