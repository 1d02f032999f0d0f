import Synchronization

/// Ends walks over the whole log from another thread: whoever stops does not wait for a report.
final class WalkEnd: Sendable {
    private let isRaised = Atomic(false)

    /// Ends walks that are under way, and those that begin, until it is taken back.
    func raise(_ isRaised: Bool) { self.isRaised.store(isRaised, ordering: .relaxed) }

    /// - Throws: `CancellationError` where walks are to end.
    func check() throws {
        if isRaised.load(ordering: .relaxed) { throw CancellationError() }
    }
}

extension Ledger {
    /// Ends what goes over the whole log, reports, what-ifs, drift checks and audits: they throw
    /// `CancellationError`.
    ///
    /// What begins afterwards throws at once, until `allowWalks`.
    package func endWalks() { questions.walkEnd.raise(true) }

    /// Lets the whole log be gone over again.
    package func allowWalks() { questions.walkEnd.raise(false) }
}
