import EntitlementLedger
import NIOPosix

/// Threads for what computes, and reads what mostly is in memory; whatever waits for a disk, a name server or
/// somebody else would hold up all of them.
struct ComputingThreads: BlockingPool {
    private let pool: NIOThreadPool

    /// Starts them.
    init(count: Int) {
        pool = NIOThreadPool(numberOfThreads: count)
        pool.start()
    }

    /// See `BlockingPool`.
    func submit(_ work: @escaping @Sendable ((any Error)?) -> Void) { pool.begin(work) }

    /// Ends them; nothing may be asked any more.
    func stop() async throws { try await pool.shutdownGracefully() }
}

extension NIOThreadPool {
    /// Does some work as `BlockingPool` asks for it.
    func begin(_ work: @escaping @Sendable ((any Error)?) -> Void) {
        submit { state in
            switch state {
            case .active: work(nil)
            case .cancelled: work(NIOThreadPoolError.ThreadPoolInactive())
            }
        }
    }
}
