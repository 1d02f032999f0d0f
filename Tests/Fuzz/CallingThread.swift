import Dispatch
import Synchronization

/// Runs asynchronous work to its end on the thread that asks for it.
///
/// So a fault has the input's stack, and one seed makes one run.
final class CallingThread: TaskExecutor {
    private let jobs = Mutex<[UnownedJob]>([])
    /// Raised by each job and by the result.
    private let news = DispatchSemaphore(value: 0)

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        jobs.withLock { $0.append(job) }
        news.signal()
    }

    /// The value of some work.
    static func value<Value: Sendable>(
        of work: @escaping @Sendable () async -> Value
    ) -> Value {
        let thread = CallingThread()
        let result = Result<Value>()
        Task(executorPreference: thread) {
            let value = await work()
            result.values.withLock { $0.append(value) }
            thread.news.signal()
        }
        while true {
            thread.news.wait()
            if let value = result.values.withLock({ $0.first }) { return value }
            // The executor outlives its jobs: it is held here until none is left.
            if let job = thread.next() {
                unsafe job.runSynchronously(on: thread.asUnownedTaskExecutor())
            }
        }
    }

    private func next() -> UnownedJob? {
        jobs.withLock { $0.isEmpty ? nil : $0.removeFirst() }
    }

    private final class Result<Value: Sendable>: Sendable {
        /// None, then one.
        let values = Mutex<[Value]>([])
    }
}
