import Entitlements

extension EntitlementStore {
    /// What a store is made with.
    struct Options: Sendable {
        var environment: StoreEnvironment
        var issuer: String?
        /// Keys that alone are trusted; nil: those that the server publishes.
        var pinned: TrustedKeys?
        var builtIn: GateMap?
        var clock: ServiceClock
        /// How long a question that nobody answered waits before it is asked again.
        var backoff = Backoff()

        var time: ClientTime { clock.time }
    }
}
