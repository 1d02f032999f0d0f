import Entitlements
import Synchronization

/// The present as well as a device can tell it, where its own clock may be wrong (row Z17).
///
/// Each answer of the server says how far the device's clock is from the server's; from then on the
/// server's counts, also in later runs of the program. While the program runs, time passes by a clock
/// that nobody can set, where there is one. Of two readings that differ the earlier counts: a clock
/// that is ahead closes nothing early.
final class ServiceClock: Sendable {
    private let base: ClientTime
    private let state: Mutex<State>
    /// What the server's clock said when the one that nobody can set began; `none` until it said something.
    private let serversStart = Atomic(none)

    private static let none = Int64.min

    private struct State {
        /// Milliseconds by which the device's clock is ahead of the server's; 0: it is not, for one that is
        /// behind closes nothing early, and may be mended any time.
        var ahead: Int64 = 0
        /// An instant, and what the clock that nobody can set said then; nil: there is none.
        var anchor: (instant: Instant, uptime: Int64)?
    }

    /// How far clocks may be from one another before that counts: the network's moments.
    static let tolerance: Int64 = 300_000

    init(_ base: ClientTime) {
        self.base = base
        state = Mutex(State())
        anchor(at: base.now(), isServers: false)
    }

    /// The present.
    ///
    /// Cost: one clock and no lock where the server has said what it is, which every gate asks.
    var now: Instant {
        let start = serversStart.load(ordering: .relaxed)
        if start != Self.none, let uptime = base.uptime?() {
            return Instant(milliseconds: start).advanced(byMilliseconds: uptime)
        }
        let state = state.withLock { $0 }
        guard let (instant, uptime) = state.anchor, let later = base.uptime?() else {
            return corrected(by: state.ahead)
        }
        let counted = instant.advanced(byMilliseconds: max(0, later &- uptime))
        return min(counted, corrected(by: state.ahead))
    }

    private func corrected(by ahead: Int64) -> Instant {
        base.now().advanced(byMilliseconds: 0 &- ahead)
    }

    /// By which everything of the client goes.
    var time: ClientTime {
        ClientTime(
            now: { self.now },
            sleep: { instant in
                // Fits: instants saturate.
                let wait = instant.milliseconds &- self.now.milliseconds
                try await self.base.sleep(self.base.now().advanced(byMilliseconds: wait))
            },
            random: base.random,
            uptime: base.uptime
        )
    }

    /// Milliseconds by which the device's clock is ahead.
    var ahead: Int64 { state.withLock { $0.ahead } }

    /// Takes what an earlier run found.
    func resume(ahead: Int64) {
        let ahead = max(0, ahead)
        state.withLock { $0.ahead = ahead }
        anchor(at: base.now().advanced(byMilliseconds: 0 &- ahead), isServers: false)
    }

    /// Takes what the server says that it is now.
    func note(serverSays instant: Instant) {
        let (difference, overflow) = base.now().milliseconds.subtractingReportingOverflow(
            instant.milliseconds
        )
        let isNear = !overflow && abs(difference) <= Self.tolerance
        state.withLock { $0.ahead = isNear || overflow ? 0 : max(0, difference) }
        anchor(at: instant, isServers: true)
    }

    private func anchor(at instant: Instant, isServers: Bool) {
        let uptime = base.uptime?()
        state.withLock { $0.anchor = uptime.map { (instant, $0) } }
        // Fits: an instant saturates.
        let start = uptime.map { instant.advanced(byMilliseconds: 0 &- $0).milliseconds }
        serversStart.store(isServers ? start ?? Self.none : Self.none, ordering: .relaxed)
    }
}
