import Encodings

/// A stretch in which something has one value.
package struct NamedStretch: Sendable, Hashable {
    /// The value, such as a tier or a status.
    package var value: String
    /// When; the first stretch of all begins where something changes first.
    package var interval: Interval

    /// Joins values at ascending instants into stretches; each value holds until the next instant.
    static func joining(_ values: [(at: Instant, value: String)]) -> [NamedStretch] {
        var stretches: [NamedStretch] = []
        for (at, value) in values {
            if stretches.last?.value == value { continue }
            if !stretches.isEmpty { stretches[stretches.count - 1].interval.end = at }
            stretches.append(NamedStretch(value: value, interval: Interval(start: at, end: nil)))
        }
        return stretches
    }
}

extension CustomerTimeline {
    /// Every instant at which something changes by itself, ascending.
    private var instants: [Instant] {
        let earliest = Instant(milliseconds: .min)
        return Set(changeInstants.filter { $0 != earliest }).sorted()
    }

    /// The tiers over time (K7).
    package var tierStretches: [NamedStretch] {
        var reader = GateReader(self)
        return NamedStretch.joining(
            instants.map { instant in
                let gates = reader.gates(at: instant)
                return (instant, tierName(gates))
            }
        )
    }

    /// For each feature of any catalog, why it is allowed over time (K5); by feature id.
    package var featureStretches: [(feature: String, stretches: [NamedStretch])] {
        var reader = GateReader(self)
        var values: [Name: [(at: Instant, value: String)]] = [:]
        let features = catalogs.featureIDs
        for instant in instants {
            let gates = reader.gates(at: instant)
            guard let index = gates.catalog else { continue }
            let seen = catalogs.publications[index].seen
            for feature in features {
                let reason = seen.catalog.featureIndex(feature.text).map {
                    reader.reason(gates, feature: $0, in: seen.catalog)
                }
                values[feature, default: []].append(
                    (instant, (reason ?? AccessReason.none).rawValue)
                )
            }
        }
        return values.sorted { $0.key < $1.key }.map {
            ($0.key.text, NamedStretch.joining($0.value))
        }
    }
}

extension PurchaseTimeline {
    /// The statuses over time (P9).
    package var statusStretches: [NamedStretch] {
        let earliest = Instant(milliseconds: .min)
        let instants = Set(boundaries.filter { $0 != earliest }).sorted()
        return NamedStretch.joining(instants.map { ($0, status(at: $0).rawValue) })
    }
}
