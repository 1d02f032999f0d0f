package import Entitlements

extension Appender {
    /// Records what a store was asked for, without what the ledger knows already: facts that are
    /// signed or answered anew say nothing new (row 6.3; Stores, rule 9).
    ///
    /// - Returns: a receipt for each, in their order: `known` for what says nothing new.
    /// - Throws: `LedgerFault`, `LogStorageFault`; what was recorded until then stands.
    package func record(fetched submissions: [Submission]) throws -> [Receipt] {
        try pipeline.record(submissions.map { FetchedProposal(submission: $0) })
    }
}
