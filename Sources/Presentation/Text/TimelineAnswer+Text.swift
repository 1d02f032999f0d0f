import Encodings
import Entitlements
package import LedgerAPI

extension TimelineAnswer {
    /// The timeline for people: drawn in characters, then its stretches and events.
    ///
    /// `columns`: characters of a line of the drawing. `isFull`: events with milliseconds and when
    /// each was recorded, however wide.
    package func textLines(columns: Int, isFull: Bool) -> [String] {
        var lines = TimelineChart(self).text(columns: columns)
        lines += TextTable.lines("tiers", tiers.map { Self.row($0.start, $0.end, $0.value) })
        for feature in features {
            lines += TextTable.lines(
                "feature \(feature.name)",
                feature.value.map { Self.row($0.start, $0.end, $0.value.rawValue) }
            )
        }
        for purchase in statuses {
            lines += TextTable.lines(
                purchase.name,
                purchase.value.map { Self.row($0.start, $0.end, $0.value.rawValue) }
            )
        }
        let lateness = lateness
        return lines
            + TextTable.lines(
                isFull ? "events" : "events (UTC)",
                events.map { event in
                    (isFull ? event.cellTexts : Self.row(event)) + [lateness[event.sequence] ?? ""]
                }
            )
    }

    private static func row(_ start: Instant, _ end: Instant?, _ value: String) -> [String] {
        [start.description, CellText.text(end), value]
    }

    private static func row(_ event: ListedEvent) -> [String] {
        let minute = String(event.time.description.prefix(16)).replacing("T", with: " ")
        return [minute, event.type, CellText.text(event.source), String(event.sequence)]
    }

    /// How late events were learned, by their sequence; those that are not there came in time.
    private var lateness: [UInt64: String] {
        let texts = late.map { event in
            let days = event.seconds / (Instant.millisecondsPerDay / 1000)
            return (event.sequence, "\(days) day\(days == 1 ? "" : "s") late")
        }
        return Dictionary(texts, uniquingKeysWith: { first, _ in first })
    }
}
