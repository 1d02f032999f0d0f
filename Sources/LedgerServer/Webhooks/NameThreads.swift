import EntitlementLedger
import NIOPosix

/// Threads on which the names of all webhooks are resolved: where a name server does not answer, nobody who asks or
/// records waits for it.
struct NameThreads: BlockingPool {
    /// They are as long as the process.
    private static let pool: NIOThreadPool = {
        let pool = NIOThreadPool(numberOfThreads: 16)
        pool.start()
        return pool
    }()

    /// See `BlockingPool`.
    func submit(_ work: @escaping @Sendable ((any Error)?) -> Void) { Self.pool.begin(work) }
}
