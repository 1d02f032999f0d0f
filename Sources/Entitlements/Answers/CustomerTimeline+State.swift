extension CustomerTimeline {
    /// The state at T (model.md, section 6).
    ///
    /// Cost: the boundaries after T, each linear in the stretches, until all is settled.
    public func state(at instant: Instant) -> CustomerState {
        var reader = GateReader(self)
        let gates = reader.gates(at: instant)
        var features = self.features(gates, at: instant)
        let changes = settle(&features, &reader, gates, at: instant)
        let catalog = gates.catalog.map { catalogs.publications[$0].catalog }
        return CustomerState(
            at: instant,
            tier: catalog?.tiers[gates.tier] ?? Catalog.freeTier,
            validUntil: changes,
            features: features,
            purchases: owned(at: instant).map { $0.timeline.state(at: instant) },
            grants: grants.filter { $0.interval.start <= instant }.map { $0.state(at: instant) },
            trials: trials.filter { $0.interval.start <= instant }.map { $0.state(at: instant) }
                .sorted { $0.id < $1.id },
            warnings: catalog == nil
                ? [.noCatalog] : gates.unmapped.sorted().map { .unmapped(productID: $0) }
        )
    }

    /// The features of the catalog in force, `until` not yet known.
    private func features(_ gates: Gates, at instant: Instant) -> [CustomerState.FeatureState] {
        guard let index = gates.catalog else { return [] }
        let catalog = catalogs.publications[index].catalog
        return catalog.features.indices.map { feature in
            CustomerState.FeatureState(
                id: catalog.features[feature].id,
                reason: gates.reason(feature: feature, in: catalog),
                sources: Set(gates.sources[feature]),
                limit: catalog.features[feature].limits[gates.tier].map {
                    limit($0, of: catalog.features[feature].id, in: catalog, at: instant)
                }
            )
        }
        .sorted { $0.id < $1.id }
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
        let used = uses.count { $0.featureID == feature && window.contains($0.time) }
        return CustomerState.LimitState(
            perPeriod: perPeriod,
            remaining: max(0, perPeriod.count - Int64(used)),
            resetsAt: window.end,
            perUse: limit.perUse
        )
    }

    /// The purchases that the customer owns at an instant (C1), unordered.
    public func owned(at instant: Instant) -> [OwnedPurchase] {
        purchases.filter { $0.ownership.contains { $0.contains(instant) } }
    }

    /// Walks the boundaries after T: fills in K6's `until` and returns Z15's `validUntil`.
    private func settle(
        _ features: inout [CustomerState.FeatureState],
        _ reader: inout GateReader,
        _ gates: Gates,
        at instant: Instant
    ) -> Instant? {
        var open = Set(features.indices.filter { features[$0].isAllowed })
        var validUntil: Instant?
        let now = features
        let statuses = statuses(at: instant)
        for boundary in boundaries(after: instant, features) {
            let then = reader.gates(at: boundary)
            for index in open where !isAllowed(features[index].id, then) {
                features[index].until = boundary
                open.remove(index)
            }
            if validUntil == nil,
                tierName(then) != tierName(gates)
                    || !self.features(then, at: boundary).elementsEqual(now)
                    || self.statuses(at: boundary) != statuses
            {
                validUntil = boundary
            }
            if validUntil != nil && open.isEmpty { break }
        }
        return validUntil
    }

    private func isAllowed(_ feature: String, _ gates: Gates) -> Bool {
        guard let index = gates.catalog else { return false }
        let catalog = catalogs.publications[index].catalog
        return catalog.featureIndex(feature).map {
            gates.reason(feature: $0, in: catalog) != .none
        } ?? false
    }

    private func tierName(_ gates: Gates) -> String {
        gates.catalog.map { catalogs.publications[$0].catalog.tiers[gates.tier] }
            ?? Catalog.freeTier
    }

    private func statuses(at instant: Instant) -> [UInt64: PurchaseStatus] {
        var statuses: [UInt64: PurchaseStatus] = [:]
        for purchase in owned(at: instant) {
            statuses[purchase.timeline.number] = purchase.timeline.status(at: instant)
        }
        return statuses
    }

    /// Every instant after T at which the answer may change by itself, ascending.
    private func boundaries(
        after instant: Instant,
        _ features: [CustomerState.FeatureState]
    ) -> [Instant] {
        var instants = changeInstants
        instants += features.compactMap { $0.limit?.resetsAt }
        return Set(instants.filter { $0 > instant }).sorted()
    }

    /// Every instant at which stretches, statuses, ownership or catalogs change, unordered.
    var changeInstants: [Instant] {
        var instants = catalogs.publications.map(\.time)
        for stretch in stretches {
            instants.append(stretch.interval.start)
            if let end = stretch.interval.end { instants.append(end) }
        }
        for purchase in purchases {
            instants += purchase.timeline.boundaries
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
    public func state(at instant: Instant) -> CustomerState.PurchaseState {
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
            features: features.sorted(),
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
