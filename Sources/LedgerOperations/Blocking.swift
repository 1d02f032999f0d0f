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

    /// Runs a body to its end, or to what it throws.
    package static func value<Value: Sendable>(
        of body: @escaping @Sendable () async throws -> Value
    ) throws -> Value {
        try wait { () async -> Result<Value, any Error> in
            do { return .success(try await body()) } catch { return .failure(error) }
        }
        .get()
    }

    private final class Outcome<Result: Sendable>: Sendable {
        let value = Mutex<Result?>(nil)
    }
}
