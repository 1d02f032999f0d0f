import Entitlements

/// A notification with the period that it speaks about: what a row of the table reads.
struct AppStoreStatement: Hashable, Sendable {
    let notification: VerifiedAppStoreNotification
    let period: AppStorePeriod?

    /// Reads the transaction that the notification carries.
    ///
    /// - Throws: `InputFault` for one that is no period.
    init(_ notification: VerifiedAppStoreNotification) throws(InputFault) {
        self.notification = notification
        period = try notification.transaction.map { transaction throws(InputFault) in
            try AppStorePeriod(transaction)
        }
    }

    /// What the transaction says, seen in the light of the notification's type.
    var drafts: [EventDraft] {
        switch notification.content.type {
        case "REFUND": period?.drafts(revokedBy: .revocationRefunded) ?? []
        case "REVOKE": period?.drafts(revokedBy: .revocationRevoked) ?? []
        // It states the first end, and an extension that was given is not taken back (Stores, rule 7).
        case "EXPIRED": period?.drafts(isSaidWeakly: true) ?? []
        default: period?.drafts() ?? []
        }
    }

    private var signedAt: Instant { notification.content.signedAt }
    private var renewal: AppStoreRenewalInfo? { notification.renewalInfo?.content }

    /// The period, where a row means nothing without one.
    func requiredPeriod() throws(InputFault) -> AppStorePeriod {
        guard let period else { throw InputFault(unusable: "signedTransactionInfo is missing") }
        return period
    }

    /// The period's end, where a row means nothing without one.
    private func requiredEnd() throws(InputFault) -> Instant {
        guard let end = try requiredPeriod().end else {
            throw InputFault(unusable: "expiresDate is missing or without end")
        }
        return end
    }

    /// Until when grace is given; nil if none is.
    private func graceUntil() throws(InputFault) -> Instant? {
        try renewal?.payload.instant("gracePeriodExpiresDate")
    }

    /// `SUBSCRIBED`, `DID_RENEW`, `ONE_TIME_CHARGE` and the like: the period says it all.
    func sale() throws(InputFault) -> [EventDraft] {
        _ = try requiredPeriod()
        return []
    }

    /// `DID_FAIL_TO_RENEW` with `GRACE_PERIOD`: from the period's end.
    func graceStart() throws(InputFault) -> [EventDraft] {
        let period = try requiredPeriod()
        let end = try requiredEnd()
        guard let graceUntil = try graceUntil() else {
            throw InputFault(unusable: "gracePeriodExpiresDate is missing")
        }
        return [period.grace(until: graceUntil, from: end, saidAt: signedAt)]
    }

    /// `DID_FAIL_TO_RENEW`: from the period's end the store tries again without access.
    func retryStart() throws(InputFault) -> [EventDraft] {
        try retry(at: requiredEnd())
    }

    /// `GRACE_PERIOD_EXPIRED`: the store goes on trying; it says so some time after the end.
    func graceEnd() throws(InputFault) -> [EventDraft] {
        try retry(at: graceUntil() ?? signedAt)
    }

    private func retry(at time: Instant) throws(InputFault) -> [EventDraft] {
        [try requiredPeriod().retry(at: time, saidAt: signedAt)]
    }

    /// `EXPIRED`: this period, which another may have followed.
    func expiration() throws(InputFault) -> [EventDraft] {
        let end = try requiredEnd()
        return [
            try requiredPeriod().expiration(at: end, reason: expirationReason, saidAt: signedAt)
        ]
    }

    private var expirationReason: String? {
        if let subtype = notification.content.subtype { return SignalName.of(subtype) }
        return renewal?.expirationReason
    }

    /// `RENEWAL_EXTENDED`: a later end of the same period.
    func extendedEnd() throws(InputFault) -> [EventDraft] {
        let period = try requiredPeriod()
        let extended = EventData(
            .purchaseExtended,
            [.transactionID: .text(period.transactionID), .expiresAt: .instant(try requiredEnd())]
        )
        return [period.draft(extended, at: signedAt, saidAt: signedAt)]
    }

    /// `REFUND`: its transaction, which may be an older period's; told now, so in effect by now.
    func refund() throws(InputFault) -> [EventDraft] {
        // A refund of a part takes nothing away (Stores, trap 16).
        guard try !requiredPeriod().hasStandingItems else {
            throw InputFault(unusable: "advancedCommerceInfo.items holds what is not revoked")
        }
        return try revocation(.revocationRefunded)
    }

    /// `REVOKE`: a family member's transaction.
    func familyEnd() throws(InputFault) -> [EventDraft] {
        try revocation(.revocationRevoked)
    }

    /// The transaction says it itself, unless it lacks the date.
    private func revocation(_ kind: EventKind) throws(InputFault) -> [EventDraft] {
        let period = try requiredPeriod()
        guard period.revokedAt == nil else { return [] }
        return [period.draft(period.revocation(kind), at: signedAt, saidAt: signedAt)]
    }

    /// `REFUND_REVERSED`: the transaction stands again, from now, to the end that it has.
    func refundReversal() throws(InputFault) -> [EventDraft] {
        let period = try requiredPeriod()
        let reversed = EventData(
            .revocationReversed,
            [.transactionID: .text(period.transactionID)]
        )
        return [period.draft(reversed, at: signedAt, saidAt: signedAt)]
    }

    /// `DID_CHANGE_RENEWAL_STATUS`: the renewal info says it; the subtype does where that is
    /// missing.
    func renewalStatus(isOn: Bool) throws(InputFault) -> [EventDraft] {
        let period = try requiredPeriod()
        guard renewal?.willRenew == nil else { return [] }
        let changed = EventData(.purchaseRenewalChanged, [.autoRenew: .flag(isOn)])
        return [period.draft(changed, at: signedAt, saidAt: signedAt)]
    }

    /// What a message says that changes no access.
    func note() -> [EventDraft] {
        let content = notification.content
        let word = [content.type, content.subtype].compactMap { $0 }.joined(separator: "_")
        return AppStoreMeaning(noting: word, on: notification.purchase, at: signedAt).drafts
    }
}

extension VerifiedAppStoreNotification {
    /// The purchase that it speaks about; nil if it names none.
    var purchase: PurchaseName? { transaction?.purchase ?? renewalInfo?.purchase }
}
