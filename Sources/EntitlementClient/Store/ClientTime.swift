public import Entitlements
public import Foundation

/// The clock and the pauses of a client, and its dice: given by the app, so that tests hold them.
public struct ClientTime: Sendable {
    /// The present instant.
    let now: @Sendable () -> Instant
    /// Waits until an instant; throws where it is called off.
    let sleep: @Sendable (Instant) async throws -> Void
    /// 64 random bits.
    let random: @Sendable () -> UInt64
    /// Milliseconds on a clock that nobody can set, which goes on while the device sleeps; nil: there
    /// is none.
    let uptime: (@Sendable () -> Int64)?

    /// Takes a clock, a way to wait for an instant of it, a source of random bits, and milliseconds on a
    /// clock that nobody can set.
    public init(
        now: @escaping @Sendable () -> Instant,
        sleep: @escaping @Sendable (Instant) async throws -> Void,
        random: @escaping @Sendable () -> UInt64 = { UInt64.random(in: 0...(.max)) },
        uptime: (@Sendable () -> Int64)? = nil
    ) {
        self.now = now
        self.sleep = sleep
        self.random = random
        self.uptime = uptime
    }

    /// The system's clock, by its dates: `ClientTime(date: { .now })`; time also passes by one that
    /// nobody can set.
    public init(date: @escaping @Sendable () -> Date) {
        let start = ContinuousClock.now
        // A date that is none is the first instant.
        self.init(
            now: {
                let milliseconds = (date().timeIntervalSince1970 * 1000).rounded()
                return Instant(milliseconds: Int64(exactly: milliseconds) ?? 0)
            },
            uptime: {
                let passed = ContinuousClock.now - start
                // Fits: the time for which a program runs.
                return passed.components.seconds &* 1000
                    &+ passed.components.attoseconds / 1_000_000_000_000_000
            }
        )
    }

    /// A clock; waiting is by the system's, an hour at most at a time, so that a clock that is set
    /// is noticed.
    public init(now: @escaping @Sendable () -> Instant) { self.init(now: now, uptime: nil) }

    private init(now: @escaping @Sendable () -> Instant, uptime: (@Sendable () -> Int64)?) {
        self.init(
            now: now,
            sleep: { instant in
                while true {
                    let (wait, overflow) = instant.milliseconds.subtractingReportingOverflow(
                        now().milliseconds
                    )
                    guard overflow || wait > 0 else { return }
                    let hour: Int64 = 3_600_000
                    try await Task.sleep(for: .milliseconds(overflow ? hour : min(wait, hour)))
                }
            },
            uptime: uptime
        )
    }
}
