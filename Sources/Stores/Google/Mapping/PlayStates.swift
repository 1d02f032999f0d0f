import Entitlements

/// The table of what a subscription can be: one row for each state
/// (developers.google.com/android-publisher/api-ref/rest/v3/purchases.subscriptionsv2).
enum PlayStates {
    typealias Row = @Sendable (PlayLineItem) throws(InputFault) -> [EventDraft]

    /// The row of a state; nil: it is not known yet.
    static func row(_ state: String) -> Row? { rows[state] }

    /// The states that have a row.
    static var all: [String] { Array(rows.keys) }

    private static let rows: [String: Row] = [
        "SUBSCRIPTION_STATE_PENDING": { item throws(InputFault) in item.pending() },
        "SUBSCRIPTION_STATE_ACTIVE": { item throws(InputFault) in try item.running() },
        "SUBSCRIPTION_STATE_CANCELED": { item throws(InputFault) in try item.cancelled() },
        "SUBSCRIPTION_STATE_IN_GRACE_PERIOD": { item throws(InputFault) in try item.grace() },
        "SUBSCRIPTION_STATE_ON_HOLD": { item throws(InputFault) in try item.hold() },
        "SUBSCRIPTION_STATE_PAUSED": { item throws(InputFault) in try item.paused() },
        "SUBSCRIPTION_STATE_EXPIRED": { item throws(InputFault) in try item.expired() },
        "SUBSCRIPTION_STATE_PENDING_PURCHASE_CANCELED": { item throws(InputFault) in
            item.abandoned()
        },
    ]
}

/// The rows. An answer tells how a subscription stands, not how it came there: what was told before
/// stays, and only where nothing was told an answer fills the gap (`past`).
extension PlayLineItem {
    /// Not paid yet: nothing is given.
    func pending() -> [EventDraft] {
        [draft(EventData(.purchasePending, [.productID: .text(productID)]))]
    }

    /// Given up before it was paid.
    func abandoned() -> [EventDraft] {
        [
            draft(
                EventData(.purchaseAbandoned, [.productID: .text(productID)]),
                at: began(by: Self.abandonedPending)
            )
        ]
    }

    /// `ACTIVE`.
    func running() throws(InputFault) -> [EventDraft] { try period() + renewal() + resumed() }

    /// `CANCELED`: to the end of what is paid, and no longer; in grace or on hold, no longer.
    func cancelled() throws(InputFault) -> [EventDraft] {
        guard let end = end.instant, end <= answer.observedAt else {
            return try period() + renewal() + resumed()
        }
        return try expired() + renewal()
    }

    /// `IN_GRACE_PERIOD`: the end that is told is the grace's; that of the period is what was told
    /// before, or when grace was told.
    func grace() throws(InputFault) -> [EventDraft] {
        let until = try required(end.instant, "lineItems.expiryTime")
        let began = began(by: Self.inGrace)
        return try past(until: began)
            + [
                draft(EventData(.purchaseGraceStarted, [.graceUntil: .instant(until)]), at: began)
            ] + renewal()
    }

    /// `ON_HOLD`: payment is tried again, and nothing is given meanwhile.
    ///
    /// The whole is on hold for one of its products: another that is paid already is suspended too,
    /// and goes on afterwards, so that it is paused (P5)
    /// (developer.android.com/google/play/billing/subscription-with-addons).
    func hold() throws(InputFault) -> [EventDraft] {
        let began = stopped(by: Self.onHold)
        let kind: EventKind = isPaidBesideOthers ? .purchasePaused : .purchaseRetryStarted
        return try past(until: min(lastGiven, began), isEndTold: true)
            + [draft(EventData(kind, [:]), at: began)] + renewal()
    }

    /// `PAUSED`, until the customer or the date resumes it, which is a renewal.
    func paused() throws(InputFault) -> [EventDraft] {
        let resumes = try subscription.object("pausedStateContext")?.instant("autoResumeTime")
        let began = stopped(by: Self.paused)
        return try past(until: min(lastGiven, began), isEndTold: true)
            + [
                draft(
                    EventData(.purchasePaused, [.resumesAt: resumes.map { .instant($0) }]),
                    at: began
                )
            ] + renewal()
    }

    /// `EXPIRED`, by itself, taken back, or replaced.
    func expired() throws(InputFault) -> [EventDraft] {
        let end = try required(end.instant, "lineItems.expiryTime")
        let revoked = EventData(.revocationRevoked, [.transactionID: .text(order.id)])
        return past(until: end)
            + (hint == Self.revoked ? [draft(revoked)] : [])
            + [
                draft(
                    EventData(
                        .purchaseExpired,
                        [
                            .transactionID: .text(order.id),
                            .reason: cancellation.map { .text($0) },
                        ]
                    ),
                    at: end,
                    saidAt: isReplaced ? min(end, answer.observedAt) : nil
                )
            ]
    }

    // MARK: What they are made of

    /// Whether it is one product of several, and paid beyond the answer.
    private var isPaidBesideOthers: Bool {
        guard isOneOfSeveral, let end = end.instant else { return false }
        return end > answer.observedAt
    }

    /// The end of a pause that a hold of the whole made (`hold`).
    ///
    /// An answer does not say whether there was one: it is told each time, and without one ends
    /// nothing.
    private func resumed() -> [EventDraft] {
        guard isPaidBesideOthers else { return [] }
        return [draft(EventData(.purchaseResumed, [:]), at: began(by: Self.recovered))]
    }

    /// Whether another token took the place of this one.
    ///
    /// The same order may go on there (`isMovedHere`): what that token's answers say of its end is
    /// newer (P2), though this one's end is told after them.
    private var isReplaced: Bool {
        subscription.object("canceledStateContext")?["replacementCancellation"] != nil
    }

    /// Until when access was given that is given no more.
    private var lastGiven: Instant { min(end.instant ?? answer.observedAt, answer.observedAt) }

    /// When the state came to be: when its own notification told it.
    ///
    /// Another one that made us ask came late, and was sent in another state: this one does not reach back
    /// to then, and had come to be by now.
    private func began(by type: Int64) -> Instant {
        hint == nil || hint == type ? answer.changedAt : answer.observedAt
    }

    /// The same of a state that gives nothing: at the latest since nothing was given any more.
    private func stopped(by type: Int64) -> Instant {
        hint == nil || hint == type ? answer.changedAt : lastGiven
    }

    private static let recovered: Int64 = 1
    private static let renewed: Int64 = 2
    private static let onHold: Int64 = 5
    private static let inGrace: Int64 = 6
    private static let paused: Int64 = 10
    private static let revoked: Int64 = 12
    private static let abandonedPending: Int64 = 20

    /// The type of the notification that made us ask; nil: nothing did.
    private var hint: Int64? {
        guard case .subscription(let type, _) = answer.cause?.notification.content else {
            return nil
        }
        return type
    }

    /// The running period, and the verdict that it needs to give access (P7).
    ///
    /// The first one began with the subscription, another one when its renewal was told. Where it was
    /// not, it gives access from now on, unless a better statement says since when.
    private func period() throws(InputFault) -> [EventDraft] {
        let start = try required(start, "startTime")
        // Without end by an omission would be access for ever.
        guard end != .unstated else {
            throw InputFault(unusable: "lineItems.expiryTime is missing")
        }
        let began = answer.changedAt
        switch hint {
        // It may have begun earlier, under the token before.
        case _ where order.isFirst && isMovedHere:
            return periodSaidWeakly(began: start)
        case _ where order.isFirst:
            return period(order, from: start, until: end.instant, saidAt: nil)
        // It may tell of an earlier renewal than the order's, which began this period.
        case Self.renewed where isLate:
            return past(until: began) + periodSaidWeakly(began: began)
        case Self.recovered where isLate: return periodSaidWeakly(began: began)
        case Self.renewed:
            return past(until: began) + period(order, from: began, until: end.instant, saidAt: nil)
        // From hold or from a pause: what came before gave nothing.
        case Self.recovered: return period(order, from: began, until: end.instant, saidAt: nil)
        default: return past(until: began) + periodSaidWeakly(began: began)
        }
    }

    /// The running period where it is not known since when it runs: whatever told that counts instead (P1).
    ///
    /// It runs since it was seen to first, at the latest; a notification that came late may have been sent
    /// before it did.
    private func periodSaidWeakly(began: Instant) -> [EventDraft] {
        period(
            order,
            from: began,
            until: end.instant,
            saidAt: isLate ? began.saidAsLatest : began.saidAsEarliest
        ) + extended()
    }

    /// Whether another period may have begun between what was told and the answer: the shortest has a week,
    /// a tester's five minutes (developer.android.com/google/play/billing/test).
    private var isLate: Bool {
        let shortest: Int64 =
            answer.environment == .sandbox ? 4 * 60_000 : Instant.millisecondsPerDay
        return answer.changedAt.advanced(byMilliseconds: shortest) < answer.observedAt
    }

    /// What was given until an instant where nobody told: from the first period's start, and from
    /// the last end that was told.
    ///
    /// It is said weakly (`saidAsPeriod`): whatever was told counts instead (P1), and what ended it stays
    /// ended (P4).
    ///
    /// `isEndTold`: whether nothing was given from that end on, which an answer behind a hold knows no more.
    private func past(until end: Instant, isEndTold: Bool = false) -> [EventDraft] {
        guard let start, start < end else { return [] }
        let first = period(
            PlayOrder(order.base),
            from: start,
            until: end,
            saidAt: start.saidAsPeriod(until: end, isEndTold: isEndTold)
        )
        guard !order.isFirst else { return first }
        // Google gives access until it says otherwise, for a day where a payment is late.
        let gap = EventData(.purchaseGraceStarted, [.graceUntil: .instant(end)])
        let saidAt = isEndTold ? end.saidAsEarliest : end.saidAsLatest
        return first + [draft(gap, at: end, saidAt: saidAt)]
    }

    /// A period and its verdict; `saidAt`: nil: now.
    private func period(
        _ order: PlayOrder,
        from start: Instant,
        until end: Instant?,
        saidAt: Instant?
    ) -> [EventDraft] {
        let isRunning = order == self.order
        let price = isRunning ? price : nil
        let statement = EventData(
            order.isFirst ? .purchaseCompleted : .purchaseRenewed,
            [
                .transactionID: .text(order.id), .productID: .text(productID),
                .productKind: .text((isPrepaid ? ProductKind.nonRenewing : .autoRenewable).name),
                .expiresAt: end.map { .instant($0) },
                .priceMicros: price.map { .integer($0.micros) },
                .currencyCode: price.map { .text($0.currencyCode) },
                .ownership: .text("purchased"),
                .offer: (isRunning ? offer : nil).map { .text($0) },
                .storefront: subscription.code("regionCode").map { .text($0) },
                .account: account.map { .text($0.text) },
            ]
        )
        let verdict = EventData(
            .verificationPassed,
            [.transactionID: .text(order.id), .method: .text(VerificationMethod.storeAPI.rawValue)]
        )
        return [
            draft(statement, at: start, saidAt: saidAt), draft(verdict, at: start, saidAt: saidAt),
        ]
    }

    /// The end of a period whose start is not told: it leaves the start that was (P2).
    private func extended() -> [EventDraft] {
        guard let end = end.instant else { return [] }
        return [
            draft(
                EventData(
                    .purchaseExtended,
                    [.transactionID: .text(order.id), .expiresAt: .instant(end)]
                )
            )
        ]
    }

    /// Whether and to what it renews: the newest statement counts (P10).
    private func renewal() throws(InputFault) -> [EventDraft] {
        guard willRenew != nil || nextProductID != nil else { return [] }
        let cancelledAt =
            try subscription.object("canceledStateContext")?
            .object("userInitiatedCancellation")?.instant("cancelTime")
        let changed = EventData(
            .purchaseRenewalChanged,
            [
                .autoRenew: willRenew.map { .flag($0) },
                .nextProductID: nextProductID.map { .text($0) },
                .reason: cancellation.map { .text($0) },
            ]
        )
        return [draft(changed, at: cancelledAt ?? answer.changedAt)]
    }

    /// Who ended it; nil: nobody, or it is not said.
    private var cancellation: String? {
        let context = subscription.object("canceledStateContext")
        return Self.cancellations.first { context?[$0.member] != nil }?.reason
    }

    private static let cancellations = [
        (member: "userInitiatedCancellation", reason: "user"),
        (member: "systemInitiatedCancellation", reason: "system"),
        (member: "developerInitiatedCancellation", reason: "developer"),
        (member: "replacementCancellation", reason: "replaced"),
    ]

    /// Whom the app named when it sold it; where Google Play sold it again outside the app, when it
    /// sold the one that had expired.
    private var account: CustomerID? {
        let expired = subscription.object("outOfAppPurchaseContext")?
            .object("expiredExternalAccountIdentifiers")
        return Self.account(in: subscription.object("externalAccountIdentifiers"))
            ?? Self.account(in: expired)
    }

    private static func account(in identifiers: PlayObject?) -> CustomerID? {
        identifiers?.text("obfuscatedExternalAccountId").flatMap { CustomerID($0) }
    }

    private func required<Value>(_ value: Value?, _ name: String) throws(InputFault) -> Value {
        try subscription.required(value, name)
    }

    /// A statement on this purchase; `time`: nil: when it came to be; `saidAt`: nil: now.
    private func draft(
        _ data: EventData,
        at time: Instant? = nil,
        saidAt: Instant? = nil
    ) -> EventDraft {
        EventDraft(
            subject: .purchase(purchase),
            time: time ?? answer.changedAt,
            observedAt: saidAt ?? answer.observedAt,
            data: data
        )
    }
}
