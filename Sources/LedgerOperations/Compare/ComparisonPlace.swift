package import LedgerAPI

/// A ledger that a provider's word is held against: one that is open here, or a server's.
///
/// What is asked of it is of one environment and one instant.
package protocol ComparisonPlace: Sendable {
    /// What it is compared by; `everybody`: with a name of each customer whom it knows.
    ///
    /// - Throws: `LedgerFault`, `LogStorageFault`; of a server `OperationFault`.
    func ground(everybody: Bool) throws -> ComparisonGround

    /// What it says of customers whom the provider knows, in their order.
    ///
    /// Cost: the facts about each; `ComparisonQuestion.customerLimit` of them at most.
    ///
    /// - Throws: `LedgerFault`, `LogStorageFault`; of a server `OperationFault`.
    func see(_ customers: [KnownElsewhere]) throws -> [SeenCustomer]
}
