import Entitlements
import Synchronization

@testable import LedgerServer

/// Time for jobs that passes when a test turns it, and not by itself.
final class TurnedTime: Sendable {
    private let state = Mutex(State())
    private let clock: TestClock

    private struct State {
        var waits: [Wait] = []
        var isOver = false
    }

    private struct Wait {
        var until: Instant
        var continuation: CheckedContinuation<Bool, Never>
    }

    init(_ clock: TestClock) { self.clock = clock }

    /// What jobs wait by.
    var time: JobTime { JobTime { await self.wait($0) } }

    private func wait(_ duration: Duration) async -> Bool {
        let until = clock.now.advanced(byMilliseconds: duration.microseconds / 1000)
        return await withCheckedContinuation { continuation in
            let isOver = state.withLock { state in
                if !state.isOver {
                    state.waits.append(Wait(until: until, continuation: continuation))
                }
                return state.isOver
            }
            if isOver { continuation.resume(returning: false) }
        }
    }

    /// Waits until so many jobs wait for their time: what ran before has ended.
    func rests(_ count: Int) async throws {
        while state.withLock({ $0.waits.count }) < count {
            try await Task.sleep(for: .microseconds(500))
        }
    }

    /// Turns the clock on, from one job's time to the next, and lets each run end.
    func turn(by duration: Duration, jobs: Int) async throws {
        let end = clock.now.advanced(byMilliseconds: duration.microseconds / 1000)
        while true {
            try await rests(jobs)
            let next = state.withLock { $0.waits.map(\.until).min() }
            guard let next, next <= end else { break }
            clock.now = max(clock.now, next)
            let now = clock.now
            let due = state.withLock { state in
                let due = state.waits.filter { $0.until <= now }
                state.waits.removeAll { $0.until <= now }
                return due
            }
            for wait in due { wait.continuation.resume(returning: true) }
        }
        clock.now = end
    }

    /// Tells all jobs that the server stops.
    func stop() {
        let waits = state.withLock { state in
            state.isOver = true
            defer { state.waits = [] }
            return state.waits
        }
        for wait in waits { wait.continuation.resume(returning: false) }
    }
}
