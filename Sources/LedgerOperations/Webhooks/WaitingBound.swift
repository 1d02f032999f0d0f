package import Entitlements

/// How much may wait for a webhook before nothing new is looked at: little for one that takes nothing, much for
/// one that takes most, and refuses what is told of some customers.
package struct WaitingBound: Sendable {
    /// When something new was tried and nothing was taken, and nothing has been taken since.
    private var triedInVainAt: Instant?

    /// Deliveries that may wait for one that takes nothing.
    package static let least = 1000
    /// Deliveries that may wait for any.
    private static let most = 10_000
    /// Milliseconds after which it is tried again whether something new is taken: what waits may all be of
    /// customers whose messages are refused.
    private static let rest: Int64 = 60_000

    /// That of one that may take all.
    package init() {}

    /// Deliveries that may wait now.
    func limit(at now: Instant) -> Int {
        guard let triedInVainAt else { return Self.most }
        // A clock that was set back makes nobody wait for longer.
        let resting = triedInVainAt..<triedInVainAt.advanced(byMilliseconds: Self.rest)
        return resting.contains(now) ? Self.least : Self.most
    }

    /// Notes what became of messages; `plan`: the one that said them, nil for an earlier one.
    package mutating func note(
        _ results: DeliveryResults,
        of plan: DeliveryPlan? = nil,
        at now: Instant
    ) {
        if results.takenCount > 0 {
            triedInVainAt = nil
        } else if plan?.triesSomethingNew == true {
            triedInVainAt = now
        }
    }
}
