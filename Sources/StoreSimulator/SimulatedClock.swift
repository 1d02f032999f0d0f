package import Entitlements
import Synchronization

/// A clock that runs as another one does, and can be turned ahead.
package final class SimulatedClock: Sendable {
    private let base: @Sendable () -> Instant
    private let milliseconds = Atomic<Int64>(0)

    /// Runs as a clock does.
    package init(_ base: @escaping @Sendable () -> Instant) { self.base = base }

    /// The time.
    package var now: Instant { base().advanced(byMilliseconds: ahead) }

    /// Milliseconds by which it was turned.
    package var ahead: Int64 { milliseconds.load(ordering: .sequentiallyConsistent) }

    /// Turns it to an instant, if that lies ahead: it never goes back.
    package func turn(to later: Instant) {
        // Fits: instants are not of the far end of time.
        let ahead = later.milliseconds - base().milliseconds
        milliseconds.max(ahead, ordering: .sequentiallyConsistent)
    }
}
