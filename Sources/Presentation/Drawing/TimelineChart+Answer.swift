import Encodings
import Entitlements
package import LedgerAPI

extension TimelineChart {
    /// Draws an answer.
    package init(_ answer: TimelineAnswer) {
        let question = answer.question
        let late = Set(answer.late.map(\.sequence))
        self.init(
            title: "\(question.customer ?? "") (\(question.environment.name)) at \(question.at)"
                + CellText.known(at: question.known),
            at: question.at,
            known: question.known,
            lanes: Self.lanes(answer),
            marks: answer.events.map { event in
                Mark(
                    kind: MarkKind(type: event.type),
                    type: event.type,
                    time: event.time,
                    recordedAt: event.recordedAt,
                    isLate: late.contains(event.sequence)
                )
            }
        )
    }

    private static func lanes(_ answer: TimelineAnswer) -> [Lane] {
        let tier = Lane(
            label: "tier",
            bars: answer.tiers.filter { $0.value != Catalog.freeTier }.map {
                Bar(kind: .tier, value: $0.value, interval: Interval(start: $0.start, end: $0.end))
            }
        )
        let features = answer.features.map { feature in
            Lane(label: feature.name, bars: bars(feature.value, from: start(answer)))
        }
        let purchases = answer.statuses.map { purchase in
            Lane(
                label: purchase.name,
                bars: purchase.value.compactMap { stretch in
                    BarKind(status: stretch.value).map {
                        Bar(
                            kind: $0,
                            value: stretch.value.rawValue,
                            interval: Interval(start: stretch.start, end: stretch.end)
                        )
                    }
                }
            )
        }
        return [tier] + features + purchases + others(answer.stretches)
    }

    /// The first instant that an answer names, T among them.
    private static func start(_ answer: TimelineAnswer) -> Instant {
        answer.events.reduce(answer.question.at) { min($0, $1.time, $1.recordedAt) }
    }

    /// Why a feature is allowed, from an instant on.
    private static func bars(_ stretches: [ReasonStretch], from start: Instant) -> [Bar] {
        var bars: [Bar] = []
        for (index, stretch) in stretches.enumerated() {
            guard let kind = BarKind(reason: stretch.value) else { continue }
            var interval = Interval(start: stretch.start, end: stretch.end)
            // The first stretch begins with the first change: what the first catalog has free was so before (K1).
            if index == 0, kind == .free { interval.start = min(start, stretch.start) }
            bars.append(Bar(kind: kind, value: stretch.value.rawValue, interval: interval))
        }
        return bars
    }

    /// Grants and trials, each a lane.
    private static func others(_ stretches: [SourceStretch]) -> [Lane] {
        var lanes: [Lane] = []
        for stretch in stretches {
            guard let kind = BarKind(source: stretch.source) else { continue }
            let interval = Interval(start: stretch.start, end: stretch.end)
            let bar = Bar(kind: kind, value: kind.word, interval: interval)
            if let index = lanes.firstIndex(where: { $0.label.isSame(as: stretch.source) }) {
                lanes[index].bars.append(bar)
            } else {
                lanes.append(Lane(label: stretch.source, bars: [bar]))
            }
        }
        return lanes.sorted { $0.label.precedes($1.label) }
    }
}
