import Dispatch

/// Threads for what waits for a disk or takes long, apart from those that every caller shares.
public protocol BlockingPool: Sendable {
    /// Does some work on one of them, at some time after this returns.
    ///
    /// `work`: told why the pool takes none, where it does not; once in either case.
    func submit(_ work: @escaping @Sendable (_ refusal: (any Error)?) -> Void)
}

/// The threads of a process that brings none of its own.
struct DispatchPool: BlockingPool {
    private static let queue = DispatchQueue(
        label: "entitlement-ledger.blocking",
        attributes: .concurrent
    )

    func submit(_ work: @escaping @Sendable ((any Error)?) -> Void) {
        Self.queue.async { work(nil) }
    }
}
