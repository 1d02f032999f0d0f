import ArgumentParser
import Entitlements
import LedgerOperations

/// An option's value that is a time zone.
enum ZoneArgument {
    /// The zone of a name.
    @Sendable
    static func read(_ name: String) throws -> NamedZone {
        guard let zone = TimeZones.zone(named: name) else {
            throw ValidationError("expected a name of the zone database, such as Europe/Berlin")
        }
        return zone
    }
}
