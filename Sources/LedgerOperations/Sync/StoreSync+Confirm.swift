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

    /// Why a claim by it is refused: its store knows no such purchase, or no more.
    package var unknown: SignalRefusal {
        switch self {
        case .appStore:
            SignalRefusal(
                .invalidValue,
                "signedTransaction",
                "the App Store knows no such purchase"
            )
        case .playStore:
            SignalRefusal(
                .invalidValue,
                "purchaseData",
                "Google Play knows no such purchase of this app"
            )
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
    /// - Returns: what the store said; nil: nothing.
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
        guard standing?.owner == nil, let heard = await Self.value(until: deadline, ask) else {
            return nil
        }
        guard case .told(let facts) = heard else { return .unknown }
        guard let environment = facts.submissions.first?.environment else { return nil }
        _ = try await pool.run { try ledger.appender.record(fetched: facts.submissions) }
        // Where the store says that it belongs.
        try await record(
            [Self.confirmation(of: purchase, at: now)],
            from: Source.ledger,
            in: environment
        )
        return .known(Told(facts, of: evidence))
    }

    /// What a store says to what is claimed.
    package enum Confirmation: Sendable {
        /// How it stands now.
        case known(Told)
        /// There is no such purchase, or no more: nothing is to be given for it.
        case unknown
    }

    /// What a store told of what is claimed.
    package struct Told: Sendable {
        /// What Google wants to be told once the claim is on the disk; nil: nothing.
        package var acknowledgement: PlayAcknowledgement?
        /// What is claimed in place of what was handed in, which tells neither that it was several products nor
        /// that it was a tester's; nil: it was one, in production.
        package var transaction: VerifiedTransaction?

        fileprivate init(_ facts: Facts, of evidence: ClaimedEvidence) {
            acknowledgement = facts.acknowledgement
            guard case .playStore(let purchase) = evidence, let facts = facts.submissions.first
            else { return }
            let told = VerifiedTransaction(purchase: purchase, facts: facts)
            let isAsHandedIn =
                told.purchases == [purchase] && facts.environment == evidence.environment
            transaction = isAsHandedIn ? nil : told
        }
    }

    /// What a store answers.
    fileprivate enum Heard: Sendable {
        case told(Facts)
        case unknown
    }

    /// What is true of a purchase.
    fileprivate struct Facts: Sendable {
        var submissions: [Submission]
        var acknowledgement: PlayAcknowledgement?
    }

    /// Asks the store; why it does not answer makes no difference, but that it does where it knows nothing of
    /// what is claimed.
    ///
    /// Nil: it cannot be asked, or need not be, since the signature is not old.
    private func question(
        _ evidence: ClaimedEvidence,
        _ now: Instant
    ) -> (@Sendable () async -> Heard?)? {
        switch evidence {
        case .appStore(let signed):
            // What Xcode signs for a test of its own the App Store does not know.
            guard let appStore = clients.appStore, let id = signed.transactionID,
                signed.environment != .local,
                Fact.isLate(saidAt: signed.content.signedAt, recordedAt: now)
            else { return nil }
            return {
                let answer: JSONValue
                do throws(StoreFault) {
                    answer = try await appStore.api.transaction(id, in: signed.environment)
                } catch {
                    return error.code == .notFound ? .unknown : nil
                }
                // Why one is refused makes no difference here.
                let told = await AppStoreImport.outcomes(
                    of: answer,
                    verifier: appStore.verifier,
                    now: now
                ).compactMap { try? $0.get() }
                return .told(Facts(submissions: told))
            }
        case .playStore(let purchase):
            guard let playStore = clients.playStore,
                let id = PlayFetch.ids(of: [purchase]).first
            else { return nil }
            let fetch = PlayFetch(playStore, of: id, now: now)
            return {
                do throws(StoreFault) {
                    let facts = try await fetch.facts()
                    return .told(
                        Facts(
                            submissions: [facts.submission],
                            acknowledgement: facts.acknowledgement
                        )
                    )
                } catch {
                    return error.isOfUnknown ? .unknown : nil
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
