import Entitlements

/// The part of a ledger that exports: a customer's log, or a range of it, with proofs (row 8.6).
public struct Exporter: Sendable {
    let questions: Questions
    let prover: Prover
    let clock: @Sendable () -> Instant
}
