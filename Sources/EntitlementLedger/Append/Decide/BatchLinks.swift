import Synchronization

/// The links of a batch's submissions that are sealed, by the streams of their names: the next ones
/// that propose the same leave it out, for they are recorded behind these or not at all.
package final class BatchLinks: Sendable {
    private let state = Mutex(State())

    private struct State {
        /// Whom the last link of each alias names.
        var sealed: [UInt64: UInt64] = [:]
        /// Whom the log's link of each alias names that was looked up; nil: it has none.
        var recorded: [UInt64: UInt64?] = [:]
        /// Names by whose links in the log others are left out.
        var relied: Set<UInt64> = []
    }

    /// Those of a new batch.
    package init() {}

    func customer(of alias: UInt64) -> UInt64? { state.withLock { $0.sealed[alias] } }

    func add(_ customer: UInt64, of alias: UInt64) {
        state.withLock { $0.sealed[alias] = customer }
    }

    func recorded(of alias: UInt64) -> UInt64?? { state.withLock { $0.recorded[alias] } }

    func note(recorded customer: UInt64?, of alias: UInt64) {
        state.withLock { $0.recorded[alias] = .some(customer) }
    }

    func rely(on names: [UInt64]) { state.withLock { $0.relied.formUnion(names) } }

    /// Whether it leaves out links as if those of an earlier batch did not come between, which was
    /// decided beside it.
    func isOvertaken(by earlier: BatchLinks) -> Bool {
        let sealed = earlier.state.withLock { Set($0.sealed.keys) }
        return state.withLock { !$0.relied.isDisjoint(with: sealed) }
    }
}
