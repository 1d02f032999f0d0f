// Unsafe: a job and a reference to its executor, which the task that the job is of keeps alive.

import Dispatch
import Synchronization

/// A thread that waits for a task and meanwhile runs it.
final class WaitingThread: TaskExecutor {
    private let jobs = Mutex<[UnownedJob]>([])
    private let arrivals = DispatchSemaphore(value: 0)

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        jobs.withLock { $0.append(job) }
        arrivals.signal()
    }

    /// Waits for the next job and runs it.
    func runNext() {
        arrivals.wait()
        let job = jobs.withLock { $0.removeFirst() }
        unsafe job.runSynchronously(on: asUnownedTaskExecutor())
    }
}
