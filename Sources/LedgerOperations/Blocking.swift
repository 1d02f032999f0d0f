import Synchronization

/// Waits for what is asynchronous: commands run from top to bottom.
package enum Blocking {
    /// Runs a body to its end.
    ///
    /// The body and its child tasks run on the thread that waits. They take none of the shared
    /// pool, all of whose threads may be waiting here. So a fault has its caller's stack.
    package static func wait<Result: Sendable>(
        _ body: @escaping @Sendable () async -> Result
    ) -> Result {
        let thread = WaitingThread()
        let outcome = Outcome<Result>()
        Task.detached(executorPreference: thread) {
            let result = await body()
            outcome.value.withLock { $0 = result }
        }
        while true {
            thread.runNext()
            if let result = outcome.value.withLock({ $0 }) { return result }
        }
    }

    private final class Outcome<Result: Sendable>: Sendable {
        let value = Mutex<Result?>(nil)
    }
}
