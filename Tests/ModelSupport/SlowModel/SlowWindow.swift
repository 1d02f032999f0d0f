import Encodings
import Entitlements

/// A limit's window in a time zone (C5), from the transitions that the catalog keeps (K10).
struct SlowZone {
    private var first: Int64 = 0
    private var transitions: [(at: Int64, offset: Int64)] = []

    /// "UTC" needs no entry.
    init(_ name: String, in document: JSONValue) {
        guard let zone = document["timeZones"]?["zones"]?[name] else { return }
        first = (zone["offsetSeconds"]?.integer ?? 0) * 1000
        transitions = (zone["transitions"]?.array ?? []).map {
            ($0.array?.first?.integer ?? 0, ($0.array?.last?.integer ?? 0) * 1000)
        }
    }

    /// The earliest instant x with `x + offset(x) >= midnight` of a day since the epoch.
    func start(ofDay day: Int64) -> Instant {
        let midnight = day * Instant.millisecondsPerDay
        var candidates: [Int64] = []
        // One stretch of constant offset after the other.
        for index in 0...transitions.count {
            let offset = index == 0 ? first : transitions[index - 1].offset
            let earliest = midnight - offset
            let x = index == 0 ? earliest : max(transitions[index - 1].at, earliest)
            if index == transitions.count || x < transitions[index].at { candidates.append(x) }
        }
        return Instant(milliseconds: candidates.min() ?? midnight)
    }

    /// The window that contains T: from the largest day that begins one and starts at or before T
    /// to the next such day's start.
    func window(of period: String, at instant: Instant) -> Interval {
        var day = instant.milliseconds / Instant.millisecondsPerDay + 3
        while !Self.begins(period, on: day) || start(ofDay: day) > instant { day -= 1 }
        var next = day + 1
        while !Self.begins(period, on: next) { next += 1 }
        return Interval(start: start(ofDay: day), end: start(ofDay: next))
    }

    private static func begins(_ period: String, on day: Int64) -> Bool {
        switch period {
        case "week": (day + 3) % 7 == 0  // 1970-01-05 was a Monday
        case "month": CivilDate(daysSinceEpoch: day).day == 1
        default: true
        }
    }
}

extension SlowWorld {
    /// A feature's limit for a tier by the catalog in force at T, null without one (C5).
    func limitJSON(
        _ feature: SlowCatalog.Feature,
        tier: String,
        catalog: SlowCatalog,
        at instant: Instant
    ) -> JSONValue {
        guard let limit = feature.limits[tier], !limit.isNull else { return .null }
        var perUse = JSONValue.null
        if let use = limit["perUse"], !use.isNull {
            perUse = .members(["amount": use["amount"] ?? .null, "unit": use["unit"] ?? .null])
        }
        guard let perPeriod = limit["perPeriod"], let period = perPeriod["period"]?.string,
            let count = perPeriod["count"]?.integer
        else {
            return .members([
                "period": .null, "count": .null, "remaining": .null, "perUse": perUse,
                "resetsAt": .null,
            ])
        }
        let zone = SlowZone(perPeriod["timeZone"]?.string ?? "UTC", in: catalog.document)
        let window = zone.window(of: period, at: instant)
        let reversed = own.of(.usageReversed).map { $0.data.text(.useID) }
        // C5, and T5: a use after T counts within the window, too.
        let uses = own.of(.usageRecorded).filter {
            $0.data.text(.featureID) == feature.id && window.contains($0.time)
                && !reversed.contains($0.data.text(.useID))
        }
        return .members([
            "period": .string(period), "count": .integer(count),
            "remaining": .integer(max(0, count - Int64(uses.count))), "perUse": perUse,
            "resetsAt": .instant(window.end),
        ])
    }
}
