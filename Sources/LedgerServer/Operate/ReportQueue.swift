import LedgerAPI
import NIOPosix
import Synchronization

/// Makes one report at a time: each uses all cores and some memory, and questions are answered
/// meanwhile.
final class ReportQueue: Sendable {
    private let pool = NIOThreadPool(numberOfThreads: 1)
    private let waiting = Atomic<Int>(0)

    /// Reports that are made or wait; who comes then is asked to come again.
    static let limit = 16
    private static let retrySeconds = 5

    init() { pool.start() }

    /// Waits for its turn.
    ///
    /// - Throws: `Problem.busy` if too many wait; what the body throws.
    func make<Result: Sendable>(
        _ body: @escaping @Sendable () throws -> Result
    ) async throws -> Result {
        let (_, count) = waiting.add(1, ordering: .relaxed)
        defer { waiting.subtract(1, ordering: .relaxed) }
        guard count <= Self.limit else {
            throw Problem(.busy, "too many reports are asked for", retryAfter: Self.retrySeconds)
        }
        return try await pool.runIfActive(body)
    }

    /// Ends the thread; nothing may be asked any more.
    func stop() async throws { try await pool.shutdownGracefully() }
}
