package import Entitlements

/// That what a customer may use became another at an instant (Interfaces, "Webhooks").
package struct ChangedAccess: Sendable {
    /// When.
    package var at: Instant
    /// What they could use just before.
    package var before: AccessSummary
    /// What they can use from then on.
    package var after: AccessSummary
    /// The event that made it so; nil: time did.
    package var cause: UInt64?
    /// Whether a catalog made it so, and nothing of the customer's.
    package var isByCatalog = false
    /// When it may become another by itself; nil: never.
    package var validUntil: Instant?
}

/// What became of a customer's access at an instant, and when to look again.
package struct AccessOutlook: Sendable {
    /// The number of the customer's name at the end of the links (C2).
    package var customer: UInt64
    /// The environment.
    package var environment: StoreEnvironment
    /// What changed; nil: nothing did.
    package var change: ChangedAccess?
    /// The first instant at which something of the customer's may change by itself; nil: never.
    package var next: Instant?
}
