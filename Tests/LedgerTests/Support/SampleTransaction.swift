import Encodings
import EntitlementLedger
import Entitlements

/// Verified transactions as a store's mapping makes them.
enum SampleTransaction {
    /// `signed`: which of the store's signatures it is: other bytes, another id, the same facts.
    ///
    /// `token`: the customer whom the store's account token names.
    static func make(
        _ purchase: String = "1",
        transaction: Int = 1,
        signed: Int = 0,
        token: CustomerID? = nil,
        priceMicros: Int64 = 4_990_000,
        environment: StoreEnvironment = .production
    ) -> VerifiedTransaction {
        let name = PurchaseName(store: "app_store", originalID: purchase)
        let start = Sample.day(Int64(30 * (transaction - 1) + 1))
        let observedAt = start.advanced(byMilliseconds: Int64(signed) * 1000)
        let transactionID = "\(purchase).\(transaction)"
        func draft(_ data: EventData) -> EventDraft {
            EventDraft(
                subject: .purchase(name),
                time: start,
                observedAt: observedAt,
                data: data
            )
        }
        let facts = Submission(
            id: "transaction/\(transactionID)/\(signed)",
            source: Source.appStore,
            environment: environment,
            nature: .signal,
            drafts: [
                draft(
                    EventData(
                        transaction == 1 ? .purchaseCompleted : .purchaseRenewed,
                        [
                            .transactionID: .text(transactionID),
                            .productID: .text("pro.month"),
                            .productKind: .text("auto_renewable"),
                            .expiresAt: .instant(Sample.day(Int64(30 * transaction + 1))),
                            .priceMicros: .integer(priceMicros), .currencyCode: .text("EUR"),
                            .account: token.map { .text($0.text) },
                        ]
                    )
                ),
                draft(
                    EventData(
                        .verificationPassed,
                        [
                            .transactionID: .text(transactionID),
                            .method: .text("app_store_jws"),
                        ]
                    )
                ),
            ],
            evidenceParts: [
                .shared(Array("header".utf8)), .bytes(Array(".\(transactionID).\(signed)".utf8)),
            ]
        )
        return VerifiedTransaction(purchase: name, facts: facts)
    }
}
