package import Entitlements
package import LedgerAPI

/// The newest change of what a customer may use: what whoever asks most likely asks about.
package struct LatestChange: Sendable {
    /// When it was.
    package var at: Instant
    /// The features that opened or closed then, by name.
    package var features: [String]

    /// Days before T within which a change is the answer.
    package static let dayLimit: Int64 = 90

    /// Finds it; nil: there was none within 90 days.
    ///
    /// What is free for everybody opens and closes by the catalog, and is nobody's own.
    package init?(_ timeline: TimelineAnswer) {
        let end = timeline.question.at
        let start = end.advanced(byMilliseconds: -Self.dayLimit * Instant.millisecondsPerDay)
        var newest: (at: Instant, features: [String])?
        for feature in timeline.features {
            let instants = feature.value.flatMap { [$0.start, $0.end].compactMap(\.self) }
            let change = instants.filter { $0 <= end && $0 > start }
                .sorted(by: >)
                .first { Self.isChange(feature.value, at: $0) }
            guard let change else { continue }
            if let known = newest, known.at > change { continue }
            if newest?.at == change {
                newest?.features.append(feature.name)
            } else {
                newest = (change, [feature.name])
            }
        }
        guard let newest else { return nil }
        (at, features) = newest
    }

    private static func isChange(_ stretches: [ReasonStretch], at instant: Instant) -> Bool {
        let before = reason(stretches, at: instant.advanced(byMilliseconds: -1))
        let after = reason(stretches, at: instant)
        guard before != .free, after != .free else { return false }
        return (before == .none) != (after == .none)
    }

    private static func reason(_ stretches: [ReasonStretch], at instant: Instant) -> AccessReason {
        let stretch = stretches.first { stretch in
            stretch.start <= instant && stretch.end.map { instant < $0 } ?? true
        }
        return stretch?.value ?? .none
    }
}
