import Encodings
import Entitlements
package import LedgerAPI

extension StateDifference {
    /// The second state, made from the first.
    package func applied(to state: StateContent) -> StateContent {
        var state = state
        state.tier = tier?.after ?? state.tier
        if let validUntil { state.validUntil = validUntil.after }
        state.features = Self.apply(features, to: state.features)
        state.purchases = Self.apply(purchases, to: state.purchases, \.purchase)
        state.grants = Self.apply(grants, to: state.grants, \.grantID)
        state.trials = Self.apply(trials, to: state.trials, \.trialID)
        state.warnings = warnings?.after ?? state.warnings
        return state
    }

    private static func apply<Thing>(
        _ changes: [NamedPair<Thing>],
        to things: [Keyed<Thing>]
    ) -> [Keyed<Thing>] {
        var left: [Name: Thing] = [:]
        for thing in things { left[thing.name] = thing.value }
        for change in changes { left[change.name] = change.after }
        return left.sorted { $0.key < $1.key }.map { Keyed($0.key.text, $0.value) }
    }

    private static func apply<Thing>(
        _ changes: [NamedPair<Thing>],
        to things: [Thing],
        _ name: (Thing) -> String
    ) -> [Thing] {
        apply(changes, to: things.map { Keyed(name($0), $0) }).map(\.value)
    }
}
