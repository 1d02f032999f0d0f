import EventLog
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
        /// The same of the names by which links are left out.
        var relied: [UInt64: UInt64?] = [:]
        /// The signals of what is sealed.
        var signals: Set<SignalDigest> = []
    }

    /// Those of a new batch.
    package init() {}

    func customer(of alias: UInt64) -> UInt64? { state.withLock { $0.sealed[alias] } }

    func add(_ customer: UInt64, of alias: UInt64) {
        state.withLock { $0.sealed[alias] = customer }
    }

    /// Adds what is sealed; false: its id stands in the batch, and it is not recorded (E1).
    func add(_ signal: SignalDigest) -> Bool {
        state.withLock { $0.signals.insert(signal).inserted }
    }

    func recorded(of alias: UInt64) -> UInt64?? { state.withLock { $0.recorded[alias] } }

    func note(recorded customer: UInt64?, of alias: UInt64) {
        state.withLock { $0.recorded[alias] = .some(customer) }
    }

    /// Notes by which of the log's links others are left out: those of a name and of whomever it leads to.
    func rely(on way: [UInt64]) {
        state.withLock { state in
            for (place, name) in way.enumerated() where state.sealed[name] == nil {
                let next = place + 1 < way.count ? way[place + 1] : nil
                if state.relied[name] == nil { state.relied[name] = .some(next) }
            }
        }
    }

    /// Whether it leaves out links that are new behind those of an earlier batch, beside which it was
    /// decided.
    func isOvertaken(by earlier: BatchLinks) -> Bool {
        let (sealed, signals) = earlier.state.withLock { ($0.sealed, $0.signals) }
        return state.withLock { state in
            state.relied.contains { name, next in sealed[name].map { $0 != next } ?? false }
                || !state.signals.isDisjoint(with: signals)
        }
    }

    /// Forgets its links, and of what is sealed what is to be decided anew.
    func forget(_ signals: [SignalDigest]) {
        state.withLock { state in
            (state.sealed, state.recorded, state.relied) = ([:], [:], [:])
            state.signals.subtract(signals)
        }
    }
}
