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

    @Test(arguments: ["", "Europe/Nowhere", "europe/berlin", "+02:00", "../UTC"])
    func `is not made of another text`(_ name: String) {
        #expect(TimeZones.zone(named: name) == nil)
    }
}
