extension [PurchaseTimeline.Period] {
    /// P1 and P3's order; ends are the stated ones.
    init(orderedFrom facts: FactsByKind, _ names: FactNames) {
        self = []
        for fact in facts[.purchaseCompleted, .purchaseRenewed] {
            guard let transaction = fact.transaction else { continue }
            guard let index = firstIndex(where: { $0.transaction == transaction }) else {
                append(PurchaseTimeline.Period(fact, names, transaction: transaction))
                continue
            }
            self[index].restate(fact, names)
        }
        sort { ($0.start, $0.tie) < ($1.start, $1.tie) }
    }

    /// The period that a statement speaks of (section 3, before P13).
    func index(spokenOfBy fact: Fact) -> Int? {
        if let transaction = fact.transaction {
            return firstIndex { $0.transaction == transaction }
        }
        return lastIndex { $0.kind != .consumable && $0.start < fact.time }
    }

    private func only(_ statements: ArraySlice<Fact>, speakingOf index: Int) -> [Fact] {
        statements.filter { self.index(spokenOfBy: $0) == index }
    }

    private func nextRenewableStart(after index: Int) -> Instant? {
        self[(index + 1)...].first { $0.kind == .autoRenewable }?.start
    }

    /// P2, then P3's cut of auto-renewable periods.
    ///
    /// `lasting`: the end of a non-renewing period that the catalog gives it.
    mutating func addEnds(
        _ facts: FactsByKind,
        lasting: (PurchaseTimeline.Period) -> Instant?
    ) {
        for fact in facts[.purchaseExtended] {
            guard let index = index(spokenOfBy: fact),
                fact.statement.isNewer(than: self[index].base)
            else { continue }
            self[index].base = fact.statement
            self[index].end = fact.end
        }
        for index in indices where self[index].kind == .nonRenewing && self[index].end == nil {
            self[index].lacksStatedEnd = true
            self[index].end = lasting(self[index])
        }
        for expired in facts[.purchaseExpired] {
            guard let index = index(spokenOfBy: expired),
                expired.statement.isNewer(than: self[index].base)
            else { continue }
            self[index].isCut = true
            self[index].end = Instant.earlier(self[index].end, expired.time)
        }
        for index in indices {
            self[index].end = self[index].end.map { Swift.max($0, self[index].start) }
        }
        for index in indices where self[index].kind == .autoRenewable {
            self[index].end = Instant.earlier(self[index].end, nextRenewableStart(after: index))
        }
    }

    /// Grace lasts to the newest `graceUntil`, cut by retries and expiries that are newer (P4).
    mutating func addGrace(_ facts: FactsByKind) {
        guard !facts[.purchaseGraceStarted].isEmpty else { return }
        for index in indices {
            guard let end = self[index].end,
                let newest = only(facts[.purchaseGraceStarted], speakingOf: index).newest()
            else { continue }
            let stop = only(facts[.purchaseRetryStarted, .purchaseExpired], speakingOf: index)
                .filter { $0.isNewer(than: newest) }.map(\.time).min()
            var graceEnd = Instant.earlier(newest.end, stop)
            if self[index].kind == .autoRenewable {
                graceEnd = Instant.earlier(graceEnd, nextRenewableStart(after: index))
            }
            let grace = Interval(start: end, end: graceEnd)
            if !grace.isEmpty { self[index].grace = grace }
        }
    }

    /// Leeway follows the last auto-renewable period, unless its end is known to be one (P12).
    mutating func addLeeway(_ facts: FactsByKind, milliseconds: (Instant) -> Int64) {
        guard let index = lastIndex(where: { $0.kind == .autoRenewable }),
            let end = self[index].end, !self[index].isCut,
            only(facts[.purchaseGraceStarted, .purchaseRetryStarted], speakingOf: index).isEmpty,
            facts.renewalIntent(asOf: nil) != false
        else { return }
        let leeway = Interval(start: end, end: end.advanced(byMilliseconds: milliseconds(end)))
        if !leeway.isEmpty { self[index].leeway = leeway }
    }

    /// Each refund or revocation takes periods away, until one that reverses it (P6).
    mutating func addRevocations(_ facts: FactsByKind) {
        for fact in facts[.revocationRefunded, .revocationRevoked] {
            for index in indices {
                let transaction = self[index].transaction
                let takesAway =
                    fact.transaction.map { $0 == transaction } ?? (self[index].start <= fact.time)
                guard takesAway else { continue }
                let end = facts[.revocationReversed].lazy
                    .filter { $0.transaction == nil || $0.transaction == transaction }
                    .map(\.time).filter { $0 >= fact.time }.min()
                self[index].revocations.append(
                    PurchaseTimeline.Revocation(
                        interval: Interval(start: fact.time, end: end),
                        statement: fact.statement
                    )
                )
            }
        }
    }

    /// Verdicts on a period, in order of effective time (P7).
    mutating func addVerdicts(_ facts: FactsByKind) {
        let all = facts[.verificationPassed, .verificationFailed].sorted(by: Fact.inTime)
        let common = Self.verdicts(all, on: nil)
        for index in indices {
            // Most verdicts name no transaction: then the periods share them.
            self[index].verdicts =
                common.count == all.count
                ? common : Self.verdicts(all, on: self[index].transaction)
        }
    }

    /// Those of some verdicts that name a transaction or none.
    private static func verdicts(
        _ facts: [Fact],
        on transaction: UInt64?
    ) -> [PurchaseTimeline.Verdict] {
        facts.filter { $0.transaction == nil || $0.transaction == transaction }.map {
            PurchaseTimeline.Verdict(
                time: $0.time,
                sequence: $0.sequence,
                isPassed: $0.kind == .verificationPassed
            )
        }
    }

    /// P8; everything else has been added.
    mutating func addAccess(_ pauses: [Interval]) {
        for index in indices where self[index].kind != .consumable {
            var given = [Interval(start: self[index].start, end: self[index].end)]
            if let grace = self[index].grace { given.append(grace) }
            if let leeway = self[index].leeway { given.append(leeway) }
            self[index].access = given.subtracting(
                self[index].revocations.map(\.interval) + pauses + self[index].unverified
            )
        }
    }
}

extension FactsByKind {
    /// The newest `autoRenew` that was stated, of all or of those with `time` up to an instant.
    func renewalIntent(asOf instant: Instant?) -> Bool? {
        self[.purchaseRenewalChanged].filter { fact in
            fact.autoRenew != nil && (instant.map { fact.time <= $0 } ?? true)
        }
        .newest()?.autoRenew
    }
}

extension PurchaseTimeline.Period {
    fileprivate init(_ fact: Fact, _ names: FactNames, transaction: UInt64) {
        self.transaction = transaction
        statement = fact.statement
        productID = fact.label.map { names[$0] } ?? ""
        kind = fact.productKind ?? .consumable
        start = fact.time
        end = fact.end
        tie = PeriodTie(fact)
        base = fact.statement
    }

    /// P1: a newer statement of the transaction gives all of the period but its place in ties (P3).
    fileprivate mutating func restate(_ fact: Fact, _ names: FactNames) {
        let tie = tie.joined(PeriodTie(fact))
        if fact.statement.isNewer(than: base) {
            self = Self(fact, names, transaction: transaction)
        }
        self.tie = tie
    }

    /// The stretches without a `passed` verdict.
    fileprivate var unverified: [Interval] {
        let always = Instant(milliseconds: .min)
        guard !verdicts.isEmpty else { return [Interval(start: always, end: nil)] }
        return verdicts.indices.compactMap { index in
            guard !verdicts[index].isPassed else { return nil }
            let next = index + 1 < verdicts.count ? verdicts[index + 1].time : nil
            return Interval(start: index == 0 ? always : verdicts[index].time, end: next)
        }
    }
}
