package import Entitlements
package import LedgerAPI

extension Ledger {
    /// What something would come to, were it asked now, and what would differ for a customer; nothing is
    /// recorded.
    ///
    /// It is decided in a draft. So may who only reads.
    ///
    /// - Parameters:
    ///   - environment: the environment that is meant.
    ///   - now: T of the difference, once it is decided.
    ///   - customer: whom the difference is about; nil: there is none.
    ///   - body: asks a ledger.
    /// - Returns: what came of it, and the difference; nil: about nobody.
    /// - Throws: `LedgerFault`, `LogStorageFault`, what `body` throws.
    package func rehearse<Outcome>(
        in environment: StoreEnvironment,
        at now: () -> Instant,
        about customer: (Outcome) -> CustomerID?,
        _ body: (Ledger) throws -> Outcome
    ) throws -> (outcome: Outcome, difference: DifferenceAnswer?) {
        let draft = try draft()
        let before = try draft.questions.size()
        let outcome = try body(draft)
        let now = now()
        let difference = try customer(outcome).map { customer in
            try draft.questions.difference(
                DifferenceQuestion(
                    customer: customer,
                    environment: environment,
                    from: BitemporalPoint(at: now, knownAt: .sequence(before)),
                    to: BitemporalPoint(at: now, knownAt: .everything)
                )
            )
        }
        try draft.close()
        return (outcome, difference?.answer)
    }
}
