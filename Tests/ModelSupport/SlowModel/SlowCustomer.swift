import Encodings
import Entitlements

/// The newest `grant.given` of an id (C3).
struct SlowGrant {
    var id: String
    var features: [String]
    var tier: String?
    var interval: Interval
}

/// The first `trial.started` of an id (C4).
struct SlowTrial {
    var id: String
    /// The trial in the catalog in force at the start; nil: unknown there.
    var definition: JSONValue?
    var interval: Interval
}

extension SlowWorld {
    // C3
    var grants: [SlowGrant] {
        let given = own.of(.grantGiven)
        return sortedByBytes(given.compactMap { $0.data.text(.grantID) }).compactMap { id in
            guard let newest = given.filter({ $0.data.text(.grantID) == id }).newest else {
                return nil
            }
            var ends = own.of(.grantWithdrawn).filter {
                $0.data.text(.grantID) == id && $0.time >= newest.time
            }.map(\.time)
            if let end = newest.data.instant(.expiresAt) { ends.append(max(end, newest.time)) }
            return SlowGrant(
                id: id,
                features: newest.data.texts(.features) ?? [],
                tier: newest.data.text(.tier),
                interval: Interval(start: newest.time, end: ends.min())
            )
        }
    }

    // C4
    var trials: [SlowTrial] {
        let started = own.of(.trialStarted)
        return sortedByBytes(started.compactMap { $0.data.text(.trialID) }).compactMap { id in
            let all = started.filter { $0.data.text(.trialID) == id }
            guard let first = all.inOrderOfTime.first else { return nil }
            let definition = catalogs.inForce(at: first.time)?.trial(id)
            let days = definition?["days"]?.integer ?? 0
            return SlowTrial(
                id: id,
                definition: definition,
                interval: Interval(
                    start: first.time,
                    end: first.time.advanced(
                        byMilliseconds: days * Instant.millisecondsPerDay
                    )
                )
            )
        }
    }

    func grantsJSON(at instant: Instant) -> [JSONValue] {
        grants.filter { $0.interval.start <= instant }.map { grant in
            .members([
                "grantId": .string(grant.id),
                "features": .strings(
                    grant.features.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
                ),
                "tier": .optional(grant.tier), "startsAt": .instant(grant.interval.start),
                "expiresAt": .instant(grant.interval.end),
                "active": .bool(grant.interval.contains(instant)),
            ])
        }
    }

    func trialsJSON(at instant: Instant) -> [JSONValue] {
        trials.filter { $0.interval.start <= instant }.map { trial in
            let left = (trial.interval.end ?? instant).milliseconds - instant.milliseconds
            // C4: rounded up; 0 at or after the end.
            let day = Instant.millisecondsPerDay
            let days = left <= 0 ? 0 : (left + day - 1) / day
            return .members(["trialId": .string(trial.id), "remainingDays": .integer(days)])
        }
    }
}
