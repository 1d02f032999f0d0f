/// What a purchase is at an instant (P9); a statement on its last period, not on access.
public enum PurchaseStatus: String, Sendable, CaseIterable {
    case none, pending, active, grace, refunded, revoked, unverified, paused, expired
    case billingRetry = "billing_retry"
}

extension PurchaseTimeline {
    /// P9's p: the last period in P3's order that has started.
    package func period(at instant: Instant) -> Period? {
        index(at: instant).map { periods[$0] }
    }

    private func index(at instant: Instant) -> Int? {
        periods.lastIndex { $0.start <= instant }
    }

    /// The status at an instant (P9); linear in the purchase's statements.
    package func status(at instant: Instant) -> PurchaseStatus {
        index(at: instant).map { status(ofPeriod: $0, at: instant) }
            ?? statusBeforePeriods(at: instant)
    }

    /// The status at an instant, were a period that has started the last one (P9).
    ///
    /// `index`: of `periods`.
    package func status(ofPeriod index: Int, at instant: Instant) -> PurchaseStatus {
        let period = periods[index]
        if let revocation = period.revocation(at: instant) {
            return revocation.statement.kind == .revocationRefunded ? .refunded : .revoked
        }
        if !period.isVerified(at: instant) { return .unverified }
        if pauses.contains(where: { $0.contains(instant) }) { return .paused }
        if period.end.map({ instant < $0 }) ?? true { return .active }
        if period.leeway?.contains(instant) == true { return .active }
        if period.grace?.contains(instant) == true { return .grace }
        let isRetrying = only(facts[.purchaseRetryStarted], speakingOf: index)
            .contains { $0.time <= instant }
        return isRetrying && !hasExpired(index, at: instant) ? .billingRetry : .expired
    }

    /// Whether the store said by then that a period expired.
    private func hasExpired(_ index: Int, at instant: Instant) -> Bool {
        only(facts[.purchaseExpired], speakingOf: index).contains { $0.time <= instant }
    }

    /// Whether the last period ended by time alone and would renew (P10): the store has told neither
    /// of a renewal nor of an end.
    package func expectsRenewal(at instant: Instant) -> Bool {
        guard let last = periods.indices.last, index(at: instant) == last else { return false }
        return status(ofPeriod: last, at: instant) == .expired && !hasExpired(last, at: instant)
            && willRenew(at: instant) == true
    }

    /// Whether all that was known when somebody asked for it first had been said more than a day before,
    /// and the store has not been asked about it since (Stores, rule 7).
    package func isUnconfirmed(_ owners: Ownership) -> Bool {
        guard let claim = owners.askedFirst else { return false }
        let verdicts = facts[.verificationPassed]
        let known = (facts[.purchaseCompleted, .purchaseRenewed] + verdicts).filter {
            $0.sequence < claim
        }
        return !known.isEmpty && known.allSatisfy(\.isLate)
            && !verdicts.contains { $0.method == .storeAPI && !$0.isLate }
    }

    /// Whether Google Play told of it, by its signature or as it was asked, it began less than three days before
    /// and was not given back, and nobody has told that it was acknowledged: then Google takes it back (Stores, rule 3).
    ///
    /// Google alone names a purchase by its token and by its order. What RevenueCat's API tells of, its library
    /// acknowledges.
    package func awaitsAcknowledgement(at instant: Instant) -> Bool {
        guard let first = periods.first, first.start <= instant, first.revocations.isEmpty,
            instant < first.start.advanced(byMilliseconds: Self.acknowledgementLimit)
        else { return false }
        let isGoogles = store == Source.playStore && !facts[.purchaseLinked].isEmpty
        return facts[.purchaseAcknowledged].isEmpty
            && facts[.verificationPassed].contains { verdict in
                verdict.method == .playSignature || (verdict.method == .storeAPI && isGoogles)
            }
    }

    /// Google's three days (developer.android.com/google/play/billing/integrate#process).
    private static let acknowledgementLimit = 3 * Instant.millisecondsPerDay

    private func statusBeforePeriods(at instant: Instant) -> PurchaseStatus {
        let last = facts[.purchasePending, .purchaseAbandoned].filter { $0.time <= instant }
            .max(by: Fact.inTime)
        return last?.kind == .purchasePending ? .pending : .none
    }

    /// P10: nil where it is absent.
    package func willRenew(at instant: Instant) -> Bool? {
        guard period(at: instant)?.kind == .autoRenewable else { return nil }
        return facts.renewalIntent(asOf: instant) ?? true
    }

    /// P10, likewise for the next product.
    package func nextProductID(at instant: Instant) -> String? {
        guard period(at: instant)?.kind == .autoRenewable else { return nil }
        return facts[.purchaseRenewalChanged].filter {
            $0.nextProductID != nil && $0.time <= instant
        }
        .newest()?.nextProductID.map { names[$0] }
    }

    /// P11: nil where it was never synced.
    package func syncedAt(_ instant: Instant) -> Instant? {
        facts[.syncCompleted, .syncReconciled].filter { $0.time <= instant }
            .map(\.time).max()
    }

    /// Every instant at which status or access may change by itself, unordered.
    var boundaries: [Instant] {
        var instants = facts.times
        for pause in pauses { if let end = pause.end { instants.append(end) } }
        for period in periods {
            instants.append(period.start)
            if let end = period.end { instants.append(end) }
            if let end = period.grace?.end { instants.append(end) }
            if let end = period.leeway?.end { instants.append(end) }
            for revocation in period.revocations {
                if let end = revocation.interval.end { instants.append(end) }
            }
        }
        return instants
    }
}
