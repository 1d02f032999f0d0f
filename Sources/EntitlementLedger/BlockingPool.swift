import Dispatch

/// Threads for what waits for a disk or takes long, apart from those that every caller shares.
public protocol BlockingPool: Sendable {
    /// Does some work on one of them.
    func blocking<Result: Sendable>(
        _ body: @escaping @Sendable () throws -> Result
    ) async throws -> Result
}

/// The threads of a process that brings none of its own.
struct DispatchPool: BlockingPool {
    private static let queue = DispatchQueue(
        label: "entitlement-ledger.blocking",
        attributes: .concurrent
    )

    func blocking<Outcome: Sendable>(
        _ body: @escaping @Sendable () throws -> Outcome
    ) async throws -> Outcome {
        try await withCheckedThrowingContinuation { continuation in
            Self.queue.async { continuation.resume(with: Result(catching: body)) }
        }
    }
}
