import Encodings
import Entitlements
import LedgerOperations
import Testing

/// Time zones by name, from the zone database.
struct `A time zone` {
    private static let new = Instant(rfc3339: "2026-01-01T00:00:00Z")
    private static let summer = Instant(rfc3339: "2026-07-01T00:00:00Z")

    @Test(arguments: [
        ("Europe/Berlin", 3600, 7200), ("Asia/Tokyo", 32_400, 32_400),
        ("America/St_Johns", -12_600, -9000), ("UTC", 0, 0), ("GMT", 0, 0),
    ])
    func `has the offsets of its name`(
        _ name: String,
        _ winter: Int64,
        _ summer: Int64
    ) throws {
        let zone = try #require(TimeZones.zone(named: name))
        #expect(zone.name == name)
        #expect(zone.offsets.offsetSeconds(at: try #require(Self.new)) == winter)
        #expect(zone.offsets.offsetSeconds(at: try #require(Self.summer)) == summer)
    }

    /// A catalog with limits in zones, and with what was resolved of them, as JSON.
    private static func catalog(_ zones: [String], _ resolved: String = "") throws -> JSONValue {
        let features = zones.map { zone in
            #"{"id":"\#(zone)","level":"free","limits":{"free":{"perPeriod":"#
                + #"{"count":1,"period":"day","timeZone":"\#(zone)"}}}}"#
        }
        .joined(separator: ",")
        let text = #"{"tiers":["free"],"products":[],"features":[\#(features)]\#(resolved)}"#
        return try JSONValue(parsing: Array(text.utf8))
    }

    // K10: what is published again is resolved again.
    @Test func `is resolved at each publish`() throws {
        let old =
            #","timeZones":{"tzdata":"2000a","zones":{"Europe/Berlin":{"offsetSeconds":7,"#
            + #""transitions":[]},"Old/Zone":{"offsetSeconds":9,"transitions":[]}}}"#
        let again = TimeZones.resolved(
            try Self.catalog(["Europe/Berlin", "Asia/Tokyo", "Old/Zone"], old)
        )
        let zones = again["timeZones"]?["zones"]
        #expect(zones?["Europe/Berlin"]?["offsetSeconds"]?.integer == 3600)
        #expect(zones?["Asia/Tokyo"]?["offsetSeconds"]?.integer == 32_400)
        // What is not known here stays as it was.
        #expect(zones?["Old/Zone"]?["offsetSeconds"]?.integer == 9)
        let version = try #require(again["timeZones"]?["tzdata"]?.string)
        #expect(version != "2000a")
        #expect(again.members?.count { $0.name == "timeZones" } == 1)
        #expect(throws: Never.self) { try Catalog(document: again) }
        // The control: without zones nothing is added.
        let plain = try Self.catalog([])
        #expect(TimeZones.resolved(plain) == plain)
    }

    @Test(arguments: ["", "Europe/Nowhere", "europe/berlin", "+02:00", "../UTC"])
    func `is not made of another text`(_ name: String) {
        #expect(TimeZones.zone(named: name) == nil)
    }
}
