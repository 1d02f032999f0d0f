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
            uptime: { (ContinuousClock.now - start).wholeMilliseconds }
        )
    }

    /// A clock; waiting is by the system's, an hour at most at a time, so that a clock that is set
    /// is noticed.
    public init(now: @escaping @Sendable () -> Instant) { self.init(now: now, uptime: nil) }

    private init(now: @escaping @Sendable () -> Instant, uptime: (@Sendable () -> Int64)?) {
        self.init(
            now: now,
            sleep: { instant in
                let (begin, start) = (now(), uptime?())
                while true {
                    // By the clock that nobody can set, where there is one: the other may be set back meanwhile.
                    let present =
                        if let start, let uptime {
                            begin.advanced(byMilliseconds: uptime() &- start)
                        } else {
                            now()
                        }
                    let (wait, overflow) = instant.milliseconds.subtractingReportingOverflow(
                        present.milliseconds
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

extension Duration {
    /// Whole milliseconds of the time for which a program runs.
    ///
    /// Cost: each gate asks. A millisecond is 2^15 · 5^15 attoseconds; the first factor is a shift, and
    /// what is left of three days then fits 64 bits, where a division by a constant is a multiplication.
    var wholeMilliseconds: Int64 {
        if let units = Int64(exactly: attoseconds >> 15) { return units / 30_517_578_125 }
        let (seconds, rest) = components
        // Fits: no program runs for 292 million years.
        return seconds &* 1000 &+ rest / 1_000_000_000_000_000
    }
}
