import Encodings
import Entitlements
import EventLog
public import LedgerAPI

extension Questions {
    /// What a customer owns at a point with its history (rows 3.2, 7.1, 7.2).
    ///
    /// Cost: as `show`, and some record reads for each period.
    public func purchases(of question: CustomerQuestion) throws -> Written<PurchasesAnswer> {
        try purchases(of: question, size: prefix(knownAt: question.point.knownAt))
    }

    func purchases(
        of question: CustomerQuestion,
        size: UInt64,
        rules: UInt16 = RulesVersion.current
    ) throws -> Written<PurchasesAnswer> {
        let at = question.point.at
        let (timeline, view) = try timeline(of: question, size: size)
        let shown = view.shown(timeline.state(at: at)).purchases
        let names = RecordedNames(self)
        let purchases = try zip(timeline.owned(at: at), shown).map { owned, state in
            OwnedPurchase(
                state: PurchaseState(state, name: try names.purchaseName(owned.timeline.number)),
                ownedSince: owned.start(at: at),
                periods: try owned.timeline.periods.indices
                    .filter { owned.timeline.periods[$0].start <= at }
                    .compactMap { try history(ofPeriod: $0, of: owned.timeline, at: at, to: view) }
            )
        }
        return try written(
            .purchases,
            question,
            size: size,
            rules: rules,
            PurchasesAnswer(
                question.echo(size: size),
                validUntil: timeline.nextPurchaseChange(after: at),
                purchases
            )
        )
    }

    /// What one transaction gave, as it stands at an instant; nil where a view does not show the
    /// event that says so.
    private func history(
        ofPeriod index: Int,
        of purchase: PurchaseTimeline,
        at instant: Instant,
        to view: CustomerView
    ) throws -> PurchasePeriod? {
        let period = purchase.periods[index]
        guard let statement = try opened(period.statement.sequence, to: view) else { return nil }
        let verdict = try period.verdict(at: instant).flatMap { try opened($0.sequence, to: view) }
        let revocation = period.revocation(at: instant)
        let taken = try revocation.flatMap { try opened($0.statement.sequence, to: view) }
        func cut(_ end: Instant?) -> Instant? {
            view.cut(end, of: purchase.number, at: instant)
        }
        return PurchasePeriod(
            index,
            of: purchase,
            at: instant,
            ends: (cut(period.end), cut(period.grace?.end)),
            statement: statement.values,
            told: (statement.source, Instant(milliseconds: statement.header.recordedAt)),
            verification: verdict?.verification,
            revocation: taken?.revocation(until: cut(revocation?.interval.end))
        )
    }

    /// nil: the view does not show it.
    private func opened(_ sequence: UInt64, to view: CustomerView) throws -> OpenedEvent? {
        let opener = EventOpener(vault: vault, log: log)
        var opened: OpenedEvent??
        try log.readRecords([sequence]) { opened = try view.shown(opener.open($1), $1) }
        guard let opened else {
            throw LogStorageFault(.damaged, "record \(sequence) is missing")
        }
        return opened
    }
}

extension CustomerTimeline.OwnedPurchase {
    /// Since when the customer owns it, of an instant at which they do; nil: since ever.
    fileprivate func start(at instant: Instant) -> Instant? {
        let start = ownership.first { $0.contains(instant) }?.start
        return start == Instant(milliseconds: .min) ? nil : start
    }
}

extension OpenedEvent {
    /// A verdict (P7).
    fileprivate var verification: PurchasePeriod.Verification {
        PurchasePeriod.Verification(
            at: Instant(milliseconds: header.time),
            method: values[.method]?.text,
            reason: values[.reason]?.text
        )
    }

    /// A refund or revocation (P6).
    fileprivate func revocation(until end: Instant?) -> PurchasePeriod.Revocation {
        PurchasePeriod.Revocation(
            type: kind.name,
            at: Instant(milliseconds: header.time),
            until: end,
            reason: values[.reason]?.text,
            priceMicros: values[.priceMicros]?.integer,
            currencyCode: values[.currencyCode]?.text
        )
    }
}
