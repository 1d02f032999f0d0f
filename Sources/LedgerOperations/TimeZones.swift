package import Encodings
import Entitlements
import Foundation

/// Resolves named time zones to their offsets over 2000 to 2100 (K10), from the zone database that
/// comes with Foundation: the fold reads only what stands in the event.
public enum TimeZones {
    private static let span =
        Date(timeIntervalSince1970: 946_684_800)..<Date(timeIntervalSince1970: 4_102_444_800)

    /// A document with the member `timeZones`, if its limits name zones that it does not resolve.
    package static func resolved(_ document: JSONValue) -> JSONValue {
        let names = Catalog.zoneNames(in: document)
        guard !names.isEmpty, document["timeZones"] == nil, case .object(var members) = document
        else { return document }
        let zones = names.sorted().compactMap { name in
            resolve(name).map { JSONMember(name, $0) }
        }
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

    private static func resolve(_ name: String) -> JSONValue? {
        guard TimeZone.knownTimeZoneIdentifiers.contains(name) || name == "GMT",
            let zone = TimeZone(identifier: name)
        else { return nil }
        var transitions: [JSONValue] = []
        var date = span.lowerBound
        var offset = zone.secondsFromGMT(for: date)
        let initial = offset
        while let next = zone.nextDaylightSavingTimeTransition(after: date),
            next > date, next < span.upperBound
        {
            date = next
            let following = zone.secondsFromGMT(for: next)
            if following != offset {
                transitions.append(
                    .array([
                        .integer(Int64(next.timeIntervalSince1970 * 1000)), .integer(following),
                    ])
                )
                offset = following
            }
        }
        return .members([
            "offsetSeconds": .integer(initial), "transitions": .array(transitions),
        ])
    }
}
