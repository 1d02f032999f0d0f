import EventLog

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
}
