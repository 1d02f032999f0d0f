public import Observation

/// What a customer is entitled to, for views that are drawn anew when it changes.
///
///     @State private var access = ObservableEntitlements(service.store)
///     …
///     .task { await access.follow() }
@MainActor
@Observable
public final class ObservableEntitlements {
    /// What was known last.
    public private(set) var entitlements: CustomerEntitlements
    /// How often something was told: what time or the gate map alone changes is told by an equal value, of which
    /// nobody would hear (row Z16).
    private var changeCount: UInt64 = 0
    @ObservationIgnored private let store: EntitlementStore

    /// Looks at a store.
    public init(_ store: EntitlementStore) {
        self.store = store
        entitlements = store.current
    }

    /// Follows the store until the task is cancelled.
    public func follow() async {
        for await entitlements in store.updates {
            self.entitlements = entitlements
            changeCount &+= 1
        }
    }

    /// Whether a feature is open now; whoever asks is drawn anew when that may have changed.
    public func isOpen(_ feature: String) -> Bool { gate.isOpen(feature) }

    /// Whether features are open now, and why.
    public var gate: FeatureGate {
        // Read, so that both are observed.
        _ = (entitlements, changeCount)
        return store.gate
    }
}
