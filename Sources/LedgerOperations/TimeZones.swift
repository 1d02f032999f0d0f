package import Encodings
public import Entitlements
import Foundation

/// Resolves named time zones to their offsets over 2000 to 2100 (K10), from the zone database that
/// comes with Foundation: the fold reads only what stands in the event.
public enum TimeZones {
    private static let span =
        Date(timeIntervalSince1970: 946_684_800)..<Date(timeIntervalSince1970: 4_102_444_800)

    /// A document with the member `timeZones`, if its limits name zones: anew in place of what an earlier publish
    /// resolved, which stays of a zone that is not known here.
    package static func resolved(_ document: JSONValue) -> JSONValue {
        let names = Catalog.zoneNames(in: document)
        guard !names.isEmpty, case .object(let given) = document else { return document }
        let before = document["timeZones"]?["zones"]
        let zones = names.sorted().compactMap { name in
            (resolve(name) ?? before?[name]).map { JSONMember(name, $0) }
        }
        var members = given.filter { $0.name != "timeZones" }
        members.append(
            JSONMember(
                "timeZones",
                .members([
                    "tzdata": .string(TimeZone.timeZoneDataVersion), "zones": .object(zones),
                ])
            )
        )
        return .object(members)
    }

    /// A zone of the zone database by its name, such as `Europe/Berlin`; nil: it has none of that name.
    public static func zone(named name: String) -> NamedZone? {
        guard name != NamedZone.utc.name else { return .utc }
        guard TimeZone.knownTimeZoneIdentifiers.contains(name) || name == "GMT",
            let zone = TimeZone(identifier: name)
        else { return nil }
        var transitions: [ResolvedZone.Transition] = []
        var date = span.lowerBound
        let initial = zone.secondsFromGMT(for: date)
        var offset = initial
        while let next = zone.nextDaylightSavingTimeTransition(after: date),
            next > date, next < span.upperBound
        {
            date = next
            let following = zone.secondsFromGMT(for: next)
            if following != offset {
                let at = Instant(milliseconds: Int64(next.timeIntervalSince1970 * 1000))
                transitions.append(
                    ResolvedZone.Transition(at: at, offsetSeconds: Int64(following))
                )
                offset = following
            }
        }
        return NamedZone(
            name: name,
            offsets: ResolvedZone(
                initialOffsetSeconds: Int64(initial),
                transitions: transitions
            )
        )
    }

    private static func resolve(_ name: String) -> JSONValue? {
        zone(named: name).map { zone in
            .members([
                "offsetSeconds": .integer(zone.offsets.initialOffsetSeconds),
                "transitions": .array(
                    zone.offsets.transitions.map {
                        .array([.integer($0.at.milliseconds), .integer($0.offsetSeconds)])
                    }
                ),
            ])
        }
    }
}
