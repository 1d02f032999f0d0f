import Dispatch
import Synchronization

/// Waits on a thread of ours for what is asynchronous: commands run from top to bottom.
package enum Blocking {
    /// Runs a body to its end.
    ///
    /// Never called on a thread of the shared pool, which it would take away from the body.
    package static func wait<Result: Sendable>(
        _ body: @escaping @Sendable () async -> Result
    ) -> Result {
        let isDone = DispatchSemaphore(value: 0)
        let outcome = Outcome<Result>()
        Task.detached {
            let result = await body()
            outcome.value.withLock { $0 = result }
            isDone.signal()
        }
        isDone.wait()
        guard let result = outcome.value.withLock({ $0 }) else {
            preconditionFailure("a body that has ended has a result")
        }
        return result
    }

    private final class Outcome<Result: Sendable>: Sendable {
        let value = Mutex<Result?>(nil)
    }
}
