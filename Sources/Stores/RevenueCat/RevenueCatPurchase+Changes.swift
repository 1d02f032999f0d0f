import Entitlements

/// The rows of the events that change what is known of a period. None restates the period: the
/// newest statement wins (P1), and these carry no price and often a moved end.
extension RevenueCatPurchase {
    /// `CANCELLATION`: a refund for `CUSTOMER_SUPPORT`, else renewal is off and access stays.
    func cancellation() throws(InputFault) -> [EventDraft] {
        let reason = event.word("cancel_reason")
        guard reason == Self.refundReason else { return [renewal(on: false, reason: reason)] }
        return [try refund(at: event.statedAt)]
    }

    /// `UNCANCELLATION`.
    func uncancellation() -> [EventDraft] { [renewal(on: true, reason: nil)] }

    /// `BILLING_ISSUE`: grace if the store gives some, else the store tries again without access.
    func billingIssue() -> [EventDraft] {
        let transaction = transactionID.map { FieldValue.text($0) }
        let end = expiresAt.instant
        guard let graceUntil else {
            let retry = EventData(.purchaseRetryStarted, [.transactionID: transaction])
            return [draft(retry, at: end ?? event.statedAt)]
        }
        let grace = EventData(
            .purchaseGraceStarted,
            [.transactionID: transaction, .graceUntil: .instant(graceUntil)]
        )
        // An end after the grace's is not where the grace starts.
        let start = end.flatMap { $0 <= graceUntil ? $0 : nil }
        return [draft(grace, at: start ?? event.statedAt)]
    }

    /// `EXPIRATION`: the period's end, a refund's effect, or the start of a pause.
    ///
    /// The end is when RevenueCat says it: the stated one may lie before grace or an extension that
    /// was given, which are not taken back, and access ends now where it lies ahead (Stores, rule 7).
    /// A pause alone begins at the stated one.
    func expiration() throws(InputFault) -> [EventDraft] {
        let reason = event.word("expiration_reason")
        switch reason {
        case Self.refundReason where transactionID != nil:
            return [try refund(at: event.statedAt)]
        case "subscription_paused":
            let resumesAt = resumesAt.instant.map { FieldValue.instant($0) }
            let start = expiresAt.instant ?? event.statedAt
            return [draft(EventData(.purchasePaused, [.resumesAt: resumesAt]), at: start)]
        default:
            let expired = EventData(
                .purchaseExpired,
                [
                    .transactionID: transactionID.map { .text($0) },
                    .reason: reason.map { .text($0) },
                ]
            )
            return [draft(expired)]
        }
    }

    /// `SUBSCRIPTION_PAUSED`: a pause is planned for the period's end; access is unchanged until
    /// `EXPIRATION` says so.
    func plannedPause() -> [EventDraft] {
        let detail = resumesAt.instant.map { FieldValue.text("resumes at \($0)") }
        let name = FieldValue.text(SignalName.of(event.type))
        return [draft(EventData(.signalNoted, [.name: name, .detail: detail]))]
    }

    /// `PRODUCT_CHANGE`: takes effect by a later `RENEWAL` or `INITIAL_PURCHASE`.
    func productChange() throws(InputFault) -> [EventDraft] {
        let next = try event.required(event.name("new_product_id"), "new_product_id")
        return [draft(EventData(.purchaseRenewalChanged, [.nextProductID: .text(next)]))]
    }

    /// `SUBSCRIPTION_EXTENDED`.
    func extendedPeriod() throws(InputFault) -> [EventDraft] {
        let end = try event.required(expiresAt.instant, "expiration_at_ms")
        return [try extended(to: end)]
    }

    /// `REFUND_REVERSED`: the transaction stands again, to the end that is given.
    func refundReversal() throws(InputFault) -> [EventDraft] {
        let transactionID = try requiredTransactionID()
        let reversed = draft(
            EventData(.revocationReversed, [.transactionID: .text(transactionID)])
        )
        guard let end = expiresAt.instant else { return [reversed] }
        return [reversed, try extended(to: end)]
    }

    private static let refundReason = "customer_support"

    private func renewal(on isOn: Bool, reason: String?) -> EventDraft {
        draft(
            EventData(
                .purchaseRenewalChanged,
                [.autoRenew: .flag(isOn), .reason: reason.map { .text($0) }]
            )
        )
    }

    private func extended(to end: Instant) throws(InputFault) -> EventDraft {
        let transactionID = try requiredTransactionID()
        return draft(
            EventData(
                .purchaseExtended,
                [.transactionID: .text(transactionID), .expiresAt: .instant(end)]
            )
        )
    }

    /// Takes back one transaction, never a lifetime purchase beside it (Stores, rule 4), so its id
    /// must be known.
    private func refund(at time: Instant) throws(InputFault) -> EventDraft {
        let transactionID = try requiredTransactionID()
        let price = RevenueCatPrice(of: event)?.givenBack
        return draft(
            EventData(
                .revocationRefunded,
                [
                    .transactionID: .text(transactionID), .reason: .text(Self.refundReason),
                    .priceMicros: price.map { .integer($0.micros) },
                    .currencyCode: price.map { .text($0.currencyCode) },
                ]
            ),
            at: time
        )
    }
}
