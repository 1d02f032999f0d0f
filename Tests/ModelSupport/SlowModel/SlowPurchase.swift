import Encodings
import Entitlements

/// One purchase under all its names (section 3).
struct SlowPurchase {
    /// P13: the name at the end of its links.
    let name: PurchaseName
    /// All events that name it, in sequence order.
    let events: [RecordedEvent]
    let catalogs: [SlowCatalog]
    /// In P3's order.
    let periods: [SlowPeriod]

    init(name: PurchaseName, events: [RecordedEvent], catalogs: [SlowCatalog]) {
        self.name = name
        self.events = events
        self.catalogs = catalogs
        periods = Self.periods(of: events)
    }

    /// P1, P3: one period per transaction, by `(start, earliest observed, lowest sequence)`.
    private static func periods(of events: [RecordedEvent]) -> [SlowPeriod] {
        let statements = events.of(.purchaseCompleted, .purchaseRenewed)
        let transactions = Set(statements.compactMap { $0.data.text(.transactionID) })
        let periods = transactions.compactMap { transaction -> SlowPeriod? in
            let own = statements.filter { $0.data.text(.transactionID) == transaction }
            guard let newest = own.newest, let lowest = own.map(\.sequence).min(),
                let earliest = own.map(\.event.observedAt).min()
            else { return nil }
            return SlowPeriod(
                transaction: transaction,
                statement: newest,
                earliestObserved: earliest,
                lowestSequence: lowest
            )
        }
        return periods.sorted { left, right in
            if left.start != right.start { return left.start < right.start }
            if left.earliestObserved != right.earliestObserved {
                return left.earliestObserved < right.earliestObserved
            }
            return left.lowestSequence < right.lowestSequence
        }
    }

    /// The transaction of the period that a statement speaks of; nil: of none.
    func transactionSpokenOf(by event: RecordedEvent) -> String? {
        if let transaction = event.data.text(.transactionID) {
            return periods.first { $0.transaction == transaction }?.transaction
        }
        return periods.last { !$0.isConsumable && $0.start < event.time }?.transaction
    }

    func speaking(of period: SlowPeriod, _ kinds: EventKind...) -> [RecordedEvent] {
        events.filter {
            kinds.contains($0.kind) && transactionSpokenOf(by: $0) == period.transaction
        }
    }

    /// P3: the next auto-renewable period of an auto-renewable one.
    private func next(after period: SlowPeriod) -> SlowPeriod? {
        guard period.isAutoRenewable,
            let index = periods.firstIndex(where: { $0.transaction == period.transaction })
        else { return nil }
        return periods[(index + 1)...].first { $0.isAutoRenewable }
    }

    /// P2: the newest among the P1 statement and the extensions of the transaction.
    private func base(of period: SlowPeriod) -> RecordedEvent {
        let extensions = events.of(.purchaseExtended).filter {
            $0.data.text(.transactionID) == period.transaction
        }
        return ([period.statement] + extensions).newest ?? period.statement
    }

    /// P2: each expiry newer than the base that speaks of the period.
    private func cuts(of period: SlowPeriod) -> [RecordedEvent] {
        let base = base(of: period)
        return speaking(of: period, .purchaseExpired).filter { $0.isNewer(than: base) }
    }

    /// P2 and P3; nil: without end.
    func end(of period: SlowPeriod) -> Instant? {
        var ends = cuts(of: period).map(\.time)
        if let end = base(of: period).data.instant(.expiresAt) ?? lasting(period) {
            ends.append(end)
        }
        // P2: an end before the start counts as the start.
        var end = ends.min().map { max($0, period.start) }
        // P3
        if let next = next(after: period) { end = min(end ?? next.start, next.start) }
        return end
    }

    /// P2: the end that the catalog gives a non-renewing period; nil: none.
    private func lasting(_ period: SlowPeriod) -> Instant? {
        guard period.kind == "non_renewing" else { return nil }
        let listing = catalogs.inForceAndLater(from: period.start).lazy.compactMap {
            $0.product(period.productID, in: name.store)
        }
        guard let product = listing.first, product["kind"]?.string == "non_renewing",
            let duration = product["duration"]?.string
        else { return nil }
        return SlowDuration(duration)?.end(from: period.start)
    }

    // P4
    func grace(of period: SlowPeriod) -> Interval? {
        guard let end = end(of: period),
            let grace = speaking(of: period, .purchaseGraceStarted).newest,
            let until = grace.data.instant(.graceUntil)
        else { return nil }
        var ends = [until]
        ends += speaking(of: period, .purchaseRetryStarted, .purchaseExpired)
            .filter { $0.isNewer(than: grace) }.map(\.time)
        if let next = next(after: period) { ends.append(next.start) }
        return Interval(start: end, end: ends.min())
    }

    // P12
    func leeway(of period: SlowPeriod) -> Interval? {
        let last = periods.last { $0.isAutoRenewable }
        guard period.transaction == last?.transaction, let end = end(of: period),
            let catalog = catalogs.inForce(at: end)
        else { return nil }
        if !cuts(of: period).isEmpty { return nil }
        if !speaking(of: period, .purchaseGraceStarted, .purchaseRetryStarted).isEmpty {
            return nil
        }
        let renewal = events.of(.purchaseRenewalChanged)
            .filter { $0.data.flag(.autoRenew) != nil }.newest
        if renewal?.data.flag(.autoRenew) == false { return nil }
        return Interval(
            start: end,
            end: end.advanced(byMilliseconds: catalog.leewayMilliseconds)
        )
    }

    // P5
    func isPaused(at instant: Instant) -> Bool {
        events.of(.purchasePaused).contains { pause in
            let ends =
                events.of(.purchaseResumed).map(\.time).filter { $0 > pause.time }
                + periods.map(\.start).filter { $0 > pause.time }
            return Interval(start: pause.time, end: ends.min()).contains(instant)
        }
    }

    /// P6: the refunds and revocations of a period that cover T.
    func revocations(of period: SlowPeriod, at instant: Instant) -> [RecordedEvent] {
        events.of(.revocationRefunded, .revocationRevoked).filter { revocation in
            if let transaction = revocation.data.text(.transactionID) {
                guard transaction == period.transaction else { return false }
            } else {
                guard period.start <= revocation.time else { return false }
            }
            let reversals = events.of(.revocationReversed).filter {
                $0.time >= revocation.time && names(period, $0)
            }
            return Interval(start: revocation.time, end: reversals.map(\.time).min())
                .contains(instant)
        }
    }

    /// Whether an event names the period's transaction or none (P6, P7).
    private func names(_ period: SlowPeriod, _ event: RecordedEvent) -> Bool {
        let transaction = event.data.text(.transactionID)
        return transaction == nil || transaction == period.transaction
    }

    // P7
    func isVerified(_ period: SlowPeriod, at instant: Instant) -> Bool {
        let verdicts = events.of(.verificationPassed, .verificationFailed)
            .filter { names(period, $0) }.inOrderOfTime
        let verdict = verdicts.last { $0.time <= instant } ?? verdicts.first
        return verdict?.kind == .verificationPassed
    }

    // P8
    func givesAccess(_ period: SlowPeriod, at instant: Instant) -> Bool {
        if period.isConsumable { return false }
        let inPeriod = Interval(start: period.start, end: end(of: period)).contains(instant)
        let inGrace = grace(of: period)?.contains(instant) ?? false
        let inLeeway = leeway(of: period)?.contains(instant) ?? false
        return (inPeriod || inGrace || inLeeway) && !isPaused(at: instant)
            && revocations(of: period, at: instant).isEmpty && isVerified(period, at: instant)
    }
}

/// What one transaction gives (P1).
struct SlowPeriod {
    let transaction: String
    let statement: RecordedEvent
    let earliestObserved: Instant
    let lowestSequence: UInt64

    var start: Instant { statement.time }
    var productID: String { statement.data.text(.productID) ?? "" }
    var kind: String { statement.data.text(.productKind) ?? "" }
    var isConsumable: Bool { kind == "consumable" }
    var isAutoRenewable: Bool { kind == "auto_renewable" }
    var isNonConsumable: Bool { kind == "non_consumable" }
}
