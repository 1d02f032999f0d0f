import EntitlementClient
import Entitlements
import ModelSupport
import Synchronization

/// A clock that stands until a test moves it, and dice that a seed throws.
final class HeldTime: Sendable {
    private struct State {
        var now: Instant
        var next = 0
        var sleepers: [Int: (until: Instant, wake: CheckedContinuation<Void, any Error>)] = [:]
    }

    private let state: Mutex<State>
    private let words: SeededWords

    init(_ now: Instant = noon, seed: UInt64 = 1) {
        state = Mutex(State(now: now))
        words = SeededWords(seed)
    }

    var now: Instant { state.withLock { $0.now } }
    /// The instants that somebody waits for, ascending.
    var alarms: [Instant] { state.withLock { $0.sleepers.values.map(\.until).sorted() } }

    /// Moves the clock, also back, and wakes whose instant has come.
    func pass(to instant: Instant) {
        let woken = state.withLock { state in
            state.now = instant
            let due = state.sleepers.filter { $0.value.until <= instant }
            for key in due.keys { state.sleepers.removeValue(forKey: key) }
            return due.values.map(\.wake)
        }
        for wake in woken { wake.resume() }
    }

    var time: ClientTime {
        ClientTime(
            now: { self.now },
            sleep: { try await self.sleep(until: $0) },
            random: { self.words.next() }
        )
    }

    private func sleep(until instant: Instant) async throws {
        let key = state.withLock { state in
            state.next += 1
            return state.next
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { wake in
                let isDue = state.withLock { state in
                    if Task.isCancelled { return false as Bool? }
                    if instant <= state.now { return true }
                    state.sleepers[key] = (instant, wake)
                    return nil
                }
                switch isDue {
                case true?: wake.resume()
                case false?: wake.resume(throwing: CancellationError())
                case nil: break
                }
            }
        } onCancel: {
            let sleeper = state.withLock { $0.sleepers.removeValue(forKey: key) }
            sleeper?.wake.resume(throwing: CancellationError())
        }
    }
}

/// Waits for something that others bring about; gives up after five minutes.
func eventually(_ isSo: @isolated(any) () async -> Bool) async -> Bool {
    let clock = ContinuousClock()
    // Where all tests run at once each hop from task to task may take a second; only a failure takes so long.
    let end = clock.now.advanced(by: .seconds(3600))
    while clock.now < end {
        if await isSo() { return true }
        // Others run meanwhile.
        try? await Task.sleep(for: .milliseconds(2))
    }
    return await isSo()
}
