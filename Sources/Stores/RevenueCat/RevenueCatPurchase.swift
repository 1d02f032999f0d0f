import Entitlements

/// What a lifecycle event says of the purchase and of the period it is about.
///
/// All instants are read at once, so that one absurd instant makes the whole signal a note
/// (Stores, rule 6), whichever type it has.
struct RevenueCatPurchase: Hashable, Sendable {
    let event: RevenueCatEvent
    let name: PurchaseName
    /// Whom RevenueCat names for it (Stores, rule 7).
    let account: CustomerID?
    let transactionID: String?
    let purchasedAt: Instant?
    let expiresAt: StatedEnd
    let graceUntil: Instant?
    let resumesAt: StatedEnd

    /// Reads the event.
    ///
    /// - Throws: `InputFault` if no purchase is named or an instant is absurd.
    init(_ event: RevenueCatEvent, of account: CustomerID?) throws(InputFault) {
        self.event = event
        self.account = account
        name = try event.required(event.purchase, "store or original_transaction_id")
        transactionID = event.identifier("transaction_id")
        purchasedAt = try event.instant("purchased_at_ms")
        expiresAt = try event.end("expiration_at_ms")
        graceUntil = try event.instant("grace_period_expiration_at_ms")
        resumesAt = try event.end("auto_resume_at_ms")
    }

    /// The transaction's id, where a statement means nothing or too much without one.
    func requiredTransactionID() throws(InputFault) -> String {
        try event.required(transactionID, "transaction_id")
    }

    /// A statement about this purchase.
    func draft(_ data: EventData, at time: Instant) -> EventDraft {
        EventDraft(
            subject: .purchase(name),
            time: time,
            observedAt: event.statedAt,
            data: data
        )
    }

    /// A statement that holds from when it was made.
    func draft(_ data: EventData) -> EventDraft { draft(data, at: event.statedAt) }
}
