/// A time zone as people call it, with its offsets: whoever knows a zone database resolves it.
public struct NamedZone: Sendable, Hashable {
    /// Its name in the zone database, such as `Europe/Berlin`.
    public let name: String
    /// Its offsets over time.
    package let offsets: ResolvedZone

    /// Coordinated universal time.
    public static let utc = NamedZone(name: "UTC", offsets: .utc)

    /// Makes a zone.
    package init(name: String, offsets: ResolvedZone) {
        self.name = name
        self.offsets = offsets
    }
}
