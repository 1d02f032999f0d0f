import Encodings
package import EntitlementLedger
package import Entitlements
package import Stores

/// What a customer hands in as a proof of a purchase, and what does not tell how it stands now.
package enum ClaimedEvidence: Sendable {
    /// What the App Store signed, perhaps long ago.
    case appStore(VerifiedAppStoreTransaction)
    /// What Google Play signed when the purchase was made, which tells no end of a subscription.
    case playStore(PurchaseName)

    fileprivate var purchase: PurchaseName? {
        switch self {
        case .appStore(let signed): signed.purchase
        case .playStore(let purchase): purchase
        }
    }

    /// As far as it says; what Google Play signed does not say that a tester bought.
    fileprivate var environment: StoreEnvironment {
        switch self {
        case .appStore(let signed): signed.environment
        case .playStore: .production
        }
    }
}

extension StoreSync {
    /// How long the first claims of one call may wait for the stores.
    package static let confirmationLimit = Duration.seconds(2)

    /// Asks a store about what is claimed for the first time, where what is handed in does not tell how it
    /// stands now, and appends what it tells (Stores, rule 7).
    ///
    /// Where the store cannot be asked, or does not answer until the deadline, what was signed counts,
    /// with the warning `unconfirmed` where it is old.
    ///
    /// - Returns: what the store told; nil: nothing.
    /// - Throws: `LedgerFault`, `LogStorageFault`.
    package func confirm(
        _ evidence: ClaimedEvidence,
        until deadline: ContinuousClock.Instant
    ) async throws -> Confirmation? {
        let now = clock()
        guard let ask = question(evidence, now), let purchase = evidence.purchase,
            ContinuousClock.now < deadline
        else { return nil }
        let ledger = ledger
        let standing = try await pool.run {
            try ledger.questions.standing(of: purchase, in: evidence.environment, at: now)
        }
        guard standing?.owner == nil, let told = await Self.value(until: deadline, ask),
            let environment = told.submissions.first?.environment
        else { return nil }
        _ = try await pool.run { try ledger.appender.record(fetched: told.submissions) }
        // Where the store says that it belongs.
        try await record(
            [Self.confirmation(of: purchase, at: now)],
            from: Source.ledger,
            in: environment
        )
        return Confirmation(told, of: evidence)
    }

    /// What a store told of what is claimed.
    package struct Confirmation: Sendable {
        /// What Google wants to be told once the claim is on the disk; nil: nothing.
        package var acknowledgement: PlayAcknowledgement?
        /// What is claimed in place of what was handed in, which does not tell that it was several products;
        /// nil: it was one.
        package var products: VerifiedTransaction?

        fileprivate init(_ told: Told, of evidence: ClaimedEvidence) {
            acknowledgement = told.acknowledgement
            guard case .playStore(let purchase) = evidence, let facts = told.submissions.first
            else { return }
            let transaction = VerifiedTransaction(purchase: purchase, facts: facts)
            products = transaction.purchases == [purchase] ? nil : transaction
        }
    }

    /// What a store told.
    fileprivate struct Told: Sendable {
        var submissions: [Submission]
        var acknowledgement: PlayAcknowledgement?
    }

    /// Asks the store; why it does not answer makes no difference.
    ///
    /// Nil: it cannot be asked, or need not be, since the signature is not old.
    private func question(
        _ evidence: ClaimedEvidence,
        _ now: Instant
    ) -> (@Sendable () async -> Told?)? {
        switch evidence {
        case .appStore(let signed):
            guard let appStore = clients.appStore, let id = signed.transactionID,
                Fact.isLate(saidAt: signed.content.signedAt, recordedAt: now)
            else { return nil }
            return {
                // No answer is none.
                let answer = try? await appStore.api.transaction(id, in: signed.environment)
                guard let answer else { return nil }
                // Why one is refused makes no difference here.
                let told = await AppStoreImport.outcomes(
                    of: answer,
                    verifier: appStore.verifier,
                    now: now
                ).compactMap { try? $0.get() }
                return Told(submissions: told)
            }
        case .playStore(let purchase):
            guard let playStore = clients.playStore,
                let id = PlayFetch.ids(of: [purchase]).first
            else { return nil }
            let fetch = PlayFetch(playStore, of: id, now: now)
            return {
                // No answer is none.
                let facts = try? await fetch.facts()
                return facts.map {
                    Told(submissions: [$0.submission], acknowledgement: $0.acknowledgement)
                }
            }
        }
    }

    /// That a store was asked about a purchase, and knows it.
    static func confirmation(of purchase: PurchaseName, at instant: Instant) -> EventDraft {
        EventDraft(
            subject: .purchase(purchase),
            time: instant,
            data: EventData(
                .verificationPassed,
                [.method: .text(VerificationMethod.storeAPI.rawValue)]
            )
        )
    }

    /// What a body comes to, if it does before a deadline.
    private static func value<Value: Sendable>(
        until deadline: ContinuousClock.Instant,
        _ body: @escaping @Sendable () async -> Value?
    ) async -> Value? {
        await withTaskGroup(of: Value?.self) { tasks in
            tasks.addTask(operation: body)
            tasks.addTask {
                // Who is cancelled has waited long enough.
                try? await Task.sleep(until: deadline, clock: .continuous)
                return nil
            }
            defer { tasks.cancelAll() }
            return await tasks.next() ?? nil
        }
    }
}
