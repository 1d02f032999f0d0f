public import Entitlements
import Foundation

/// The clock and the pauses of a client, and its dice: given by the app, so that tests hold them.
public struct ClientTime: Sendable {
    /// The present instant.
    let now: @Sendable () -> Instant
    /// Waits until an instant; throws where it is called off.
    let sleep: @Sendable (Instant) async throws -> Void
    /// 64 random bits.
    let random: @Sendable () -> UInt64

    /// Takes a clock, a way to wait for an instant of it, and a source of random bits.
    public init(
        now: @escaping @Sendable () -> Instant,
        sleep: @escaping @Sendable (Instant) async throws -> Void,
        random: @escaping @Sendable () -> UInt64 = { UInt64.random(in: 0...(.max)) }
    ) {
        self.now = now
        self.sleep = sleep
        self.random = random
    }

    /// A clock; waiting is by the system's, an hour at most at a time, so that a clock that is set
    /// is noticed.
    public init(now: @escaping @Sendable () -> Instant) {
        self.init(now: now) { instant in
            while true {
                let (wait, overflow) = instant.milliseconds.subtractingReportingOverflow(
                    now().milliseconds
                )
                guard overflow || wait > 0 else { return }
                let hour: Int64 = 3_600_000
                try await Task.sleep(for: .milliseconds(overflow ? hour : min(wait, hour)))
            }
        }
    }
}
