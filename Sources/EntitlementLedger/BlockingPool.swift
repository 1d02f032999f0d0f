import Dispatch

/// Threads for what waits for a disk or takes long, apart from those that every caller shares.
public protocol BlockingPool: Sendable {
    /// Does some work on one of them, at some time after this returns.
    ///
    /// `work`: told why the pool takes none, where it does not; once in either case.
    func submit(_ work: @escaping @Sendable (_ refusal: (any Error)?) -> Void)
}

extension BlockingPool {
    /// Does some work on one of the threads, and waits for what it comes to.
    package func run<Result: Sendable>(
        _ body: @escaping @Sendable () throws -> Result
    ) async throws -> Result {
        try await withCheckedThrowingContinuation { continuation in
            submit { refusal in
                if let refusal { return continuation.resume(throwing: refusal) }
                continuation.resume(with: Swift.Result { try body() })
            }
        }
    }
}

/// The threads of a process that brings none of its own.
package struct DispatchPool: BlockingPool {
    private static let queue = DispatchQueue(
        label: "entitlement-ledger.blocking",
        attributes: .concurrent
    )

    /// Names them.
    package init() {}

    /// See `BlockingPool`.
    package func submit(_ work: @escaping @Sendable ((any Error)?) -> Void) {
        Self.queue.async { work(nil) }
    }
}
