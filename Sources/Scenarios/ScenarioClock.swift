package import Entitlements
import Synchronization

/// The time of scenarios, which passes as their messages come.
package final class ScenarioClock: Sendable {
    private let instant: Mutex<Instant>

    /// Begins at an instant.
    package init(_ start: Instant = Scenario.start) { instant = Mutex(start) }

    /// It never goes back.
    package var now: Instant { instant.withLock(\.self) }

    /// Lets it pass to an instant, if that lies ahead.
    package func pass(to later: Instant) { instant.withLock { $0 = max($0, later) } }
}
