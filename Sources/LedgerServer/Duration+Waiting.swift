import Entitlements
import ServiceLifecycle

extension Duration {
    /// Waits so long; false: the server stops.
    func passes() async -> Bool {
        do {
            try await cancelWhenGracefulShutdown { try await Task.sleep(for: self) }
            return true
        } catch {
            return false
        }
    }
}

extension Instant {
    /// An instant a while later, in whole milliseconds.
    static func + (instant: Instant, duration: Duration) -> Instant {
        instant.advanced(byMilliseconds: duration.microseconds / 1000)
    }
}
