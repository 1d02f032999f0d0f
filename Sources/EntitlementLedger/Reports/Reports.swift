/// The part of a ledger that reports (rows 10.1 to 10.6, B7): sums over everybody, from the log.
public struct Reports: Sendable {
    let questions: Questions
    /// Reports as they are kept summed up.
    let rollUps: RollUpCache
}
