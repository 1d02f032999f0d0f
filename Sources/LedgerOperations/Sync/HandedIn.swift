package import EntitlementLedger
package import Stores

/// What a customer hands in, once its store vouches for it.
package struct HandedIn: Sendable {
    package var transaction: VerifiedTransaction
    /// What Google wants to be told once it is on the disk; nil: nothing.
    package var acknowledgement: PlayAcknowledgement?
    /// What its store should be asked about first; nil: nothing, since the store has told.
    package var evidence: ClaimedEvidence?

    /// Makes it as it was handed in.
    package init(
        _ transaction: VerifiedTransaction,
        _ acknowledgement: PlayAcknowledgement? = nil,
        evidence: ClaimedEvidence? = nil
    ) {
        self.transaction = transaction
        self.acknowledgement = acknowledgement
        self.evidence = evidence
    }
}

extension StoreSync {
    /// Asks the stores about what is first claimed and does not tell how it stands now (Stores, rule 7).
    ///
    /// `limit`: for so long in all.
    ///
    /// - Returns: the same, with each of several products of one subscription, a tester's in the sandbox, and with
    ///   what Google wants to be told afterwards; why an item is refused that its store does not know.
    /// - Throws: as ``confirm(_:until:)``.
    package func confirm(
        _ items: [HandedIn],
        within limit: Duration = StoreSync.confirmationLimit
    ) async throws -> [Result<HandedIn, SignalRefusal>] {
        let deadline = ContinuousClock.now.advanced(by: limit)
        var confirmed: [Result<HandedIn, SignalRefusal>] = []
        for item in items {
            var item = item
            if let evidence = item.evidence {
                switch try await confirm(evidence, until: deadline) {
                case .unknown:
                    confirmed.append(.failure(evidence.unknown))
                    continue
                case .known(let told):
                    item.acknowledgement = told.acknowledgement
                    if let transaction = told.transaction { item.transaction = transaction }
                case nil: break
                }
            }
            confirmed.append(.success(item))
        }
        return confirmed
    }
}
