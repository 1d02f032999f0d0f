package import Encodings

/// What a customer may use at an instant, without why and for how long.
package struct AccessSummary: Hashable, Sendable {
    /// The tier (K7).
    package let tier: Name
    /// The features that are allowed (K5), by id.
    package let features: [Name]

    /// The summary of a state.
    package init(_ state: CustomerState) {
        tier = Name(state.tier)
        features = state.features.filter(\.isAllowed).map { Name($0.id) }
    }
}

extension CustomerTimeline {
    /// The first instant behind another one at which something that is the customer's may change by
    /// itself; nil: nothing does any more.
    ///
    /// What catalogs change that come into force is not among it, nor are windows of limits.
    package func nextChange(after instant: Instant) -> Instant? {
        ownInstants.filter { $0 > instant }.min()
    }

    /// Whether something that is the customer's may change by itself at an instant.
    package func changes(at instant: Instant) -> Bool { ownInstants.contains(instant) }
}
