import Entitlements

/// How a purchase stood when RevenueCat was asked.
///
/// An answer does not tell how it came there. What was told before stays, and only where nothing was
/// told an answer fills the gap (trap 24): its periods are said weakly, and what is true now of the
/// latest one is said now.
struct RevenueCatStanding: Hashable, Sendable {
    let names: RevenueCatNames
    let observedAt: Instant
    /// The latest period.
    var period: RevenueCatPeriod
    /// Those before it, where an answer has them.
    var earlier: [RevenueCatPeriod] = []
    /// When the first one began; nil: that is not told.
    var began: Instant?
    var state = State.running
    var renewal: Renewal?
    var refundedAt: Instant?

    /// What is true of the latest period.
    enum State: Hashable, Sendable {
        /// To its end, or for good.
        case running
        /// Behind its end, until an instant; nil: for the time being.
        case grace(until: Instant?)
        /// Payment failed and is tried again, without access behind the end.
        case retry
        /// The customer paused it, from an instant on, and perhaps until another.
        case paused(from: Instant, until: Instant?)
        /// It gives nothing any more.
        case over(reason: String?)
        /// It is not paid yet.
        case pending
        /// What holds now is not told, but the period.
        case unstated
        /// The same, and that the period ends earlier than it was sold.
        case cut
    }

    /// Whether and to what it renews.
    struct Renewal: Hashable, Sendable {
        var isOn: Bool
        var nextProductID: String?
        var reason: String?
        /// Since when; nil: that is not told.
        var since: Instant?
        /// When that was said; nil: when RevenueCat was asked.
        var saidAt: Instant?
    }

    /// Whether the latest period gives nothing any more.
    var isOver: Bool {
        guard case .over = state else { return false }
        return true
    }

    /// Until when access behind the end is taken to go on where it was seen and its end is not told: to the full
    /// hour, so that all answers of an hour say the same, and whoever asks in a loop does not fill the log.
    var seenUntil: Instant {
        let hour: Int64 = 3_600_000
        let begun = observedAt.milliseconds % hour
        return begun == 0 ? observedAt : observedAt.advanced(byMilliseconds: hour - begun)
    }

    /// All of it, the past first; never empty.
    func drafts() -> [EventDraft] {
        if case .pending = state {
            return [draft(EventData(.purchasePending, [.productID: .text(period.productID)]))]
        }
        return past() + period.drafts(of: names) + now() + change() + refund()
    }

    // MARK: The past

    private func past() -> [EventDraft] {
        guard earlier.isEmpty else {
            return earlier.flatMap { $0.drafts(of: names) + $0.grace(of: names) }
        }
        return untold()
    }

    /// What was given before the latest period where nobody told: from the first period's start, and
    /// from the last end that was told.
    ///
    /// Where the first transaction is known by its renewal's id, as of Google Play: the App Store counts a
    /// subscription that had lapsed from its first day, so nothing is said of what lies between.
    private func untold() -> [EventDraft] {
        guard period.productKind == .autoRenewable, names.isFirstKnown, !names.isFirst, let began,
            began < period.start
        else { return [] }
        var first = period
        first.transactionID = names.purchase.originalID
        (first.start, first.end) = (began, .at(period.start))
        (first.price, first.offer) = (nil, nil)
        let gap = EventData(.purchaseGraceStarted, [.graceUntil: .instant(period.start)])
        // Before whatever else is said weakly: a retry that was seen meanwhile ends it (P4).
        return first.drafts(of: names) + [draft(gap, at: period.start, saidAt: .earliest)]
    }

    // MARK: Now

    /// What holds of the latest period.
    private func now() -> [EventDraft] {
        let end = period.end.instant
        switch state {
        case .unstated: return period.grace(of: names)
        case .cut: return extended() + period.grace(of: names)
        case .running: return extended() + laterGrace()
        case .grace(let until):
            // As long as it was seen, unless somebody told until when.
            let grace = period.grace(
                until: until ?? seenUntil,
                from: end ?? observedAt,
                saidAt: until == nil ? nil : observedAt,
                of: names
            )
            return extended() + [grace]
        case .retry: return extended() + period.grace(of: names) + [retry()]
        case .paused(let from, let until):
            let paused = EventData(
                .purchasePaused,
                [.resumesAt: until.map { .instant($0) }]
            )
            return period.grace(of: names) + [draft(paused, at: from)]
        case .over(let reason):
            let expired = EventData(
                .purchaseExpired,
                [.transactionID: transaction, .reason: reason.map { .text($0) }]
            )
            // When it is told, as a webhook's: what grace gave stays (Stores, rule 7).
            return extended() + period.grace(of: names)
                + (refundedAt == nil ? [draft(expired)] : [])
        case .pending: return []
        }
    }

    /// The end as it is now: it leaves the start, and all that was told of the period (P2).
    private func extended() -> [EventDraft] {
        // A refund moves the end, and may be taken back.
        guard refundedAt == nil, let end = period.end.instant else { return [] }
        return [
            draft(
                EventData(
                    .purchaseExtended,
                    [.transactionID: transaction, .expiresAt: .instant(end)]
                )
            )
        ]
    }

    /// That payment is tried again: since the grace that is told was over, else since the end.
    ///
    /// Where none is told it is said weakly: a grace that was told, or seen, before outlasts it (P4;
    /// Stores, rule 7).
    private func retry() -> EventDraft {
        let retry = EventData(.purchaseRetryStarted, [.transactionID: transaction])
        let end = period.end.instant ?? observedAt
        if let until = period.graceUntil, end < until {
            return draft(retry, at: min(until, observedAt))
        }
        return draft(retry, at: end, saidAt: period.start.saidWeakly(until: end))
    }

    /// Grace that is known before the end.
    private func laterGrace() -> [EventDraft] {
        guard let until = period.graceUntil, let end = period.end.instant, end < until else {
            return []
        }
        return [period.grace(until: until, from: end, saidAt: observedAt, of: names)]
    }

    /// The newest statement counts (P10).
    private func change() -> [EventDraft] {
        guard let renewal else { return [] }
        let changed = EventData(
            .purchaseRenewalChanged,
            [
                .autoRenew: .flag(renewal.isOn),
                .nextProductID: renewal.nextProductID.map { .text($0) },
                .reason: renewal.reason.map { .text($0) },
            ]
        )
        return [draft(changed, at: renewal.since, saidAt: renewal.saidAt)]
    }

    /// Takes back one transaction, never a lifetime purchase beside it (Stores, rule 4).
    private func refund() -> [EventDraft] {
        guard let refundedAt else { return [] }
        let refunded = EventData(
            .revocationRefunded,
            [.transactionID: transaction, .reason: .text("customer_support")]
        )
        return [draft(refunded, at: refundedAt)]
    }

    private var transaction: FieldValue { .text(period.transactionID) }

    /// `time`: nil: when RevenueCat was asked; `saidAt` likewise.
    private func draft(
        _ data: EventData,
        at time: Instant? = nil,
        saidAt: Instant? = nil
    ) -> EventDraft {
        EventDraft(
            subject: .purchase(names.purchase),
            time: time ?? observedAt,
            observedAt: saidAt ?? observedAt,
            data: data
        )
    }
}
