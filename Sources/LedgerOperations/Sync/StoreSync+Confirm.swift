import Encodings
import EntitlementLedger
import Entitlements
package import Stores

extension StoreSync {
    /// How long the first claims of one call may wait for the stores.
    package static let confirmationLimit = Duration.seconds(2)

    /// Milliseconds after which a signature is so old that a refund or an erasure may lie between.
    private static let freshness = Instant.millisecondsPerDay

    /// Asks the App Store how a transaction stands that is claimed for the first time, more than a day
    /// after it was signed, and appends what it tells (Stores, rule 7).
    ///
    /// Where the App Store cannot be asked, or does not answer until the deadline, the transaction
    /// counts as it was signed, with the warning `unconfirmed`.
    ///
    /// - Throws: `LedgerFault`, `LogStorageFault`.
    package func confirm(
        _ transaction: VerifiedAppStoreTransaction,
        until deadline: ContinuousClock.Instant
    ) async throws {
        let now = clock()
        let age = now.milliseconds.subtractingReportingOverflow(
            transaction.content.signedAt.milliseconds
        )
        guard let appStore = clients.appStore, let id = transaction.transactionID,
            let purchase = transaction.purchase, age.overflow || age.partialValue > Self.freshness,
            ContinuousClock.now < deadline
        else { return }
        let (ledger, environment) = (ledger, transaction.environment)
        let standing = try await pool.run {
            try ledger.questions.standing(of: purchase, in: environment, at: now)
        }
        guard standing?.owner == nil else { return }
        let answer = await Self.value(until: deadline) {
            // Why it does not answer makes no difference here.
            try? await appStore.api.transaction(id, in: environment)
        }
        guard let answer else { return }
        // Why one is refused makes no difference here.
        let told = await AppStoreImport.outcomes(
            of: answer,
            verifier: appStore.verifier,
            now: now
        ).compactMap { try? $0.get() }
        guard !told.isEmpty else { return }
        _ = try await pool.run { try ledger.appender.record(fetched: told) }
        try await record(
            [Self.confirmation(of: purchase, at: now)],
            from: Source.ledger,
            in: environment
        )
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
