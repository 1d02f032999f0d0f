import EventLog
import Synchronization

/// The part of a ledger that erases: the keys and names of those who go, and no byte of the log (C6).
public struct Eraser: Sendable {
    let questions: Questions
    let prover: Prover
    let archiver: Archiver
    let rollUps: RollUpCache
    /// The vault with what is destroyed; nil: its key is not at hand.
    let opened: (any Vault)?
    /// nil: the ledger is only read.
    let appending: Appender?
    /// Erasures one after the other, each from its decision to the destruction of its keys.
    let turn = Turn()

    /// What is held by whoever erases.
    final class Turn: Sendable {
        private let held = Mutex<Void>(())

        func take<Outcome: Sendable>(_ body: () throws -> Outcome) rethrows -> Outcome {
            try held.withLock { _ in try body() }
        }
    }
}
