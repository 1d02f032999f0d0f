import Entitlements

/// How a period of a subscription ends, and goes on for a while.
extension AppStorePeriod {
    /// Grace, from the period's end.
    func grace(until graceUntil: Instant, from end: Instant, saidAt: Instant) -> EventDraft {
        let grace = EventData(
            .purchaseGraceStarted,
            [.transactionID: .text(transactionID), .graceUntil: .instant(graceUntil)]
        )
        return draft(grace, at: min(end, graceUntil), saidAt: saidAt)
    }

    /// The store tries again to be paid, and there is no access meanwhile.
    func retry(at time: Instant, saidAt: Instant) -> EventDraft {
        let retry = EventData(.purchaseRetryStarted, [.transactionID: .text(transactionID)])
        return draft(retry, at: time, saidAt: saidAt)
    }

    /// The end, no earlier than it is said: the one that the transaction states is its first one, and
    /// what grace or an extension gave is not taken back (Stores, rule 7; P2, P4).
    func expiration(at end: Instant, reason: String?, saidAt: Instant) -> EventDraft {
        let expired = EventData(
            .purchaseExpired,
            [.transactionID: .text(transactionID), .reason: reason.map { .text($0) }]
        )
        return draft(expired, at: max(end, saidAt), saidAt: saidAt)
    }
}

extension AppStoreRenewalInfo {
    /// Why it ended, in our word; nil: that is not said.
    var expirationReason: String? {
        switch expirationIntent {
        case 1: "voluntary"
        case 2: "billing_retry"
        case 3: "price_increase"
        case 4: "product_not_for_sale"
        default: nil
        }
    }
}
