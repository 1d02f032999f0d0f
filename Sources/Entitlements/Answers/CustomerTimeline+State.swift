import Encodings

extension CustomerTimeline {
    /// The state at T (Model, "Questions").
    ///
    /// Cost: the boundaries after T, each linear in the stretches, until all is settled.
    package func state(at instant: Instant) -> CustomerState {
        var reader = GateReader(self)
        let gates = reader.gates(at: instant)
        var features = self.features(reader, gates, at: instant)
        let changes = settle(&features, &reader, gates, at: instant)
        let owned = owned(at: instant)
        return CustomerState(
            at: instant,
            tier: tierName(gates),
            validUntil: changes,
            features: features,
            purchases: owned.map { $0.timeline.state(at: instant) },
            grants: grants.filter { $0.interval.start <= instant }.map { $0.state(at: instant) },
            trials: trials.filter { $0.interval.start <= instant }.map { $0.state(at: instant) }
                .sorted { $0.id.precedes($1.id) },
            warnings: (gates.catalog == nil
                ? [.noCatalog] : gates.unmapped.texts.map { .unmapped(productID: $0) })
                + owned.filter { $0.timeline.expectsRenewal(at: instant) }
                .map { .renewalExpected(purchase: $0.timeline.number) }
                + owned.filter { $0.timeline.isUnconfirmed($0.owners) }
                .map { .unconfirmed(purchase: $0.timeline.number) }
        )
    }

    /// The features of the catalog in force, `until` not yet known.
    private func features(
        _ reader: GateReader,
        _ gates: Gates,
        at instant: Instant
    ) -> [CustomerState.FeatureState] {
        guard let index = gates.catalog else { return [] }
        let seen = catalogs.publications[index].seen
        return seen.featureOrder.map { feature in
            CustomerState.FeatureState(
                id: seen.catalog.features[feature].id,
                reason: reader.reason(gates, feature: feature, in: seen.catalog),
                sources: gates.unlocks(feature: feature).map { reader.sources[$0.source] },
                limit: seen.catalog.features[feature].limits[gates.tier].map {
                    limit($0, of: seen.catalog.features[feature].id, in: seen.catalog, at: instant)
                }
            )
        }
    }

    /// C5: what is left of a limit in the window that contains an instant.
    func limit(
        _ limit: Catalog.Limit,
        of feature: String,
        in catalog: Catalog,
        at instant: Instant
    ) -> CustomerState.LimitState {
        guard let perPeriod = limit.perPeriod else {
            return CustomerState.LimitState(perUse: limit.perUse)
        }
        let zone = catalog.zones[perPeriod.timeZone] ?? .utc
        let window = perPeriod.period.window(containing: instant, in: zone)
        let used = uses.count { $0.featureID.isSame(as: feature) && window.contains($0.time) }
        return CustomerState.LimitState(
            perPeriod: perPeriod,
            remaining: max(0, perPeriod.count - Int64(used)),
            // RFC 3339 writes no instant behind the year 9999, and no question is about one.
            resetsAt: window.end.flatMap {
                $0.milliseconds < Instant.writable.upperBound ? $0 : nil
            },
            perUse: limit.perUse
        )
    }

    /// The first instant behind another one at which something that is said of the purchases which the
    /// customer owns may change without a new event (Z15); nil: never.
    package func nextPurchaseChange(after instant: Instant) -> Instant? {
        purchaseInstants.filter { $0 > instant }.min()
    }

    /// The purchases that the customer owns at an instant (C1), unordered.
    package func owned(at instant: Instant) -> [OwnedPurchase] {
        purchases.filter { $0.ownership.contains { $0.contains(instant) } }
    }

    /// Walks the boundaries after T: fills in K6's `until` and returns Z15's `validUntil`.
    private func settle(
        _ features: inout [CustomerState.FeatureState],
        _ reader: inout GateReader,
        _ gates: Gates,
        at instant: Instant
    ) -> Instant? {
        var open = features.indices.filter { features[$0].isAllowed }
        var validUntil: Instant?
        let now = features
        let statuses = statuses(at: instant)
        var last = instant
        for boundary in boundaries(after: instant, features) where boundary != last {
            last = boundary
            let then = reader.gates(at: boundary)
            open.removeAll { index in
                if isAllowed(features[index].id, index, then, gates) { return false }
                features[index].until = boundary
                return true
            }
            if validUntil == nil,
                isOther(then, at: boundary, than: gates, now, reader)
                    || self.statuses(at: boundary) != statuses
            {
                validUntil = boundary
            }
            if validUntil != nil && open.isEmpty { break }
        }
        return validUntil
    }

    /// Whether a feature is allowed at a later instant.
    ///
    /// `index`: its place among the features of the gates at T.
    private func isAllowed(
        _ feature: String,
        _ index: Int,
        _ gates: Gates,
        _ now: Gates
    ) -> Bool {
        guard let number = gates.catalog else { return false }
        let seen = catalogs.publications[number].seen
        let place =
            number == now.catalog
            ? seen.featureOrder[index] : seen.catalog.featureIndex(feature)
        return place.map { gates.isAllowed(feature: $0, in: seen.catalog) } ?? false
    }

    /// Whether tier or features are others than at T.
    private func isOther(
        _ then: Gates,
        at boundary: Instant,
        than gates: Gates,
        _ now: [CustomerState.FeatureState],
        _ reader: GateReader
    ) -> Bool {
        guard then.catalog == gates.catalog else {
            return tierName(then) != tierName(gates)
                || features(reader, then, at: boundary) != now
        }
        guard let index = gates.catalog else { return false }
        if then.tier != gates.tier || then.unlocks != gates.unlocks { return true }
        let seen = catalogs.publications[index].seen
        return zip(seen.featureOrder, now).contains { place, feature in
            guard let known = feature.limit,
                let limit = seen.catalog.features[place].limits[then.tier]
            else { return false }
            return self.limit(limit, of: feature.id, in: seen.catalog, at: boundary) != known
        }
    }

    func tierName(_ gates: Gates) -> String {
        gates.catalog.map { catalogs.publications[$0].seen.catalog.tiers[gates.tier] }
            ?? Catalog.freeTier
    }

    /// The statuses of the purchases that are owned at an instant; nil for the others.
    private func statuses(at instant: Instant) -> [PurchaseStatus?] {
        purchases.map { purchase in
            purchase.ownership.contains { $0.contains(instant) }
                ? purchase.timeline.status(at: instant) : nil
        }
    }

    /// Every instant after T at which the answer may change by itself, ascending, some repeated.
    private func boundaries(
        after instant: Instant,
        _ features: [CustomerState.FeatureState]
    ) -> [Instant] {
        var instants = changeInstants
        for feature in features {
            if let resetsAt = feature.limit?.resetsAt { instants.append(resetsAt) }
        }
        instants.removeAll { $0 <= instant }
        instants.sort()
        return instants
    }

    /// Every instant at which stretches, statuses, ownership or catalogs change, unordered.
    var changeInstants: [Instant] { catalogs.publications.map(\.time) + ownInstants }

    /// The same without catalogs that come into force.
    var ownInstants: [Instant] {
        var instants = purchaseInstants
        for stretch in stretches {
            instants.append(stretch.interval.start)
            if let end = stretch.interval.end { instants.append(end) }
        }
        return instants
    }

    /// Every instant at which a purchase changes while it is the customer's, or becomes or ceases to
    /// be theirs, unordered.
    private var purchaseInstants: [Instant] {
        var instants: [Instant] = []
        for purchase in purchases {
            // What changes while another owns it changes nothing here (C1).
            instants += purchase.timeline.boundaries.filter { boundary in
                purchase.ownership.contains { $0.contains(boundary) }
            }
            for owned in purchase.ownership {
                instants.append(owned.start)
                if let end = owned.end { instants.append(end) }
            }
        }
        return instants
    }
}

extension PurchaseTimeline {
    /// The purchase at an instant.
    package func state(at instant: Instant) -> CustomerState.PurchaseState {
        let period = period(at: instant)
        return CustomerState.PurchaseState(
            number: number,
            productID: period?.productID,
            productKind: period?.kind,
            status: status(at: instant),
            expiresAt: period?.end,
            isVerified: period?.isVerified(at: instant) ?? false,
            syncedAt: syncedAt(instant),
            willRenew: willRenew(at: instant),
            nextProductID: nextProductID(at: instant)
        )
    }
}

extension CustomerTimeline.Grant {
    fileprivate func state(at instant: Instant) -> CustomerState.GrantState {
        CustomerState.GrantState(
            sequence: sequence,
            features: features.sortedByBytes(),
            tier: tier,
            interval: interval,
            isActive: interval.contains(instant)
        )
    }
}

extension CustomerTimeline.Trial {
    fileprivate func state(at instant: Instant) -> CustomerState.TrialState {
        let left = (interval.end ?? instant).milliseconds - instant.milliseconds
        let day = Instant.millisecondsPerDay
        return CustomerState.TrialState(id: id, remainingDays: max(0, (left + day - 1) / day))
    }
}
