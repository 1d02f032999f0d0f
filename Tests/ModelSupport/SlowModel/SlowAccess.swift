import Encodings
import Entitlements

extension SlowWorld {
    /// Something that holds at T: what it unlocks, and the tier that it counts for.
    struct Source {
        var kind: Kind
        var name: String
        var features: [String]
        var tier: String?

        enum Kind { case purchase, trial, grant }
    }

    /// Owned periods that give access at T (C1, P8), each with its purchase.
    private func access(at instant: Instant) -> [(SlowPurchase, SlowPeriod)] {
        ownedPurchases(at: instant).flatMap { purchase in
            purchase.periods.filter { purchase.givesAccess($0, at: instant) }
                .map { (purchase, $0) }
        }
    }

    /// All that unlocks something at T, or counts as a tier.
    func sources(at instant: Instant) -> [Source] {
        guard let catalog = catalogs.inForce(at: instant) else { return [] }
        var sources: [Source] = []
        for (purchase, period) in access(at: instant) {
            let name = purchase.name.description
            // K2; K4: an unknown product unlocks nothing by it.
            if let product = catalog.product(period.productID, in: purchase.name.store) {
                let unlocked = catalog.unlocked(by: product)
                sources.append(
                    Source(
                        kind: .purchase,
                        name: name,
                        features: unlocked.features,
                        tier: unlocked.tier
                    )
                )
            }
            // K3
            if period.isNonConsumable, let bought = catalogs.inForce(at: period.start),
                let product = bought.product(period.productID, in: purchase.name.store)
            {
                let unlocked = bought.unlocked(by: product)
                let isAll = product["unlocks"]?["all"]?.bool == true
                sources.append(
                    Source(
                        kind: .purchase,
                        name: name,
                        features: unlocked.features,
                        tier: isAll ? catalog.tiers.last : unlocked.tier
                    )
                )
            }
        }
        // C3
        for grant in grants where grant.interval.contains(instant) {
            let tier = grant.tier
            sources.append(
                Source(
                    kind: .grant,
                    name: "grant/" + grant.id,
                    features: grant.features
                        + (tier.map { catalog.featuresUnlocked(byTier: $0) } ?? []),
                    tier: tier
                )
            )
        }
        // C4
        for trial in trials {
            guard let definition = trial.definition, trial.interval.contains(instant) else {
                continue
            }
            let tier = definition["tier"]?.string
            let named = (definition["features"]?.array ?? []).compactMap(\.string)
            sources.append(
                Source(
                    kind: .trial,
                    name: "trial/" + trial.id,
                    features: named + (tier.map { catalog.featuresUnlocked(byTier: $0) } ?? []),
                    tier: tier
                )
            )
        }
        return sources
    }

    /// K7; K2: a tier that the catalog at T does not list does not count.
    private func tier(of sources: [Source], in catalog: SlowCatalog) -> String {
        let ranks = sources.compactMap { source in
            source.tier.flatMap { catalog.tiers.firstIndex(of: $0) }
        }
        return ranks.max().map { catalog.tiers[$0] } ?? "free"
    }

    /// What the question's answer rests on at T.
    func core(at instant: Instant) -> SlowCore {
        let statuses = ownedPurchases(at: instant).map { purchase in
            purchase.name.description + " " + purchase.status(at: instant)
        }
        // K1: no catalog at all.
        guard let catalog = catalogs.inForce(at: instant) else {
            return SlowCore(tier: "free", features: [], statuses: statuses)
        }
        let sources = sources(at: instant)
        let tier = tier(of: sources, in: catalog)
        // K2: only features that the catalog in force at T lists.
        let features = sortedByBytes(catalog.features.map(\.id)).compactMap { id in
            catalog.features.first { $0.id == id }
        }
        let answers = features.map { feature in
            let unlocking = sources.filter { $0.features.contains(feature.id) }
            let names = sortedByBytes(unlocking.map(\.name))
            let reason = reason(of: feature, unlocking)
            return SlowFeatureAnswer(
                id: feature.id,
                allowed: reason != "none",
                reason: reason,
                sources: names,
                limit: limitJSON(feature, tier: tier, catalog: catalog, at: instant)
            )
        }
        return SlowCore(tier: tier, features: answers, statuses: statuses)
    }

    /// K5: the first that holds of `free`, `purchase`, `trial`, `grant`, `none`.
    private func reason(of feature: SlowCatalog.Feature, _ sources: [Source]) -> String {
        if feature.level == "free" { return "free" }
        if sources.contains(where: { $0.kind == .purchase }) { return "purchase" }
        if sources.contains(where: { $0.kind == .trial }) { return "trial" }
        return sources.isEmpty ? "none" : "grant"
    }

    // K2, K5
    func isAllowed(_ id: String, at instant: Instant) -> Bool {
        guard let catalog = catalogs.inForce(at: instant),
            let feature = catalog.features.first(where: { $0.id == id })
        else { return false }
        return feature.level == "free"
            || sources(at: instant).contains { $0.features.contains(id) }
    }

    // K4
    func warnings(at instant: Instant) -> [JSONValue] {
        guard let catalog = catalogs.inForce(at: instant) else {
            return [.members(["code": "no_catalog"])]
        }
        let unmapped = access(at: instant).filter { purchase, period in
            catalog.product(period.productID, in: purchase.name.store) == nil
        }
        return sortedByBytes(unmapped.map { $0.1.productID }).map {
            .members(["code": "unmapped", "productId": .string($0)])
        }
    }

    /// By name: purchases that expired by time alone and would renew (P9, P10), and those that were
    /// claimed by old evidence and of which the store was not asked since (Stores, rule 7).
    func doubts(at instant: Instant) -> [JSONValue] {
        ownedPurchases(at: instant).flatMap { purchase in
            [
                "renewal_expected": purchase.expectsRenewal(at: instant),
                "unconfirmed": isUnconfirmed(purchase),
            ].filter(\.value).keys.sorted().map {
                .members([
                    "code": .string($0), "purchase": .string(purchase.name.description),
                ])
            }
        }
    }

    private func isUnconfirmed(_ purchase: SlowPurchase) -> Bool {
        guard let claim = purchase.events.first(where: { $0.kind == .customerClaimed }),
            !claim.isLate
        else { return false }
        let verdicts = purchase.events.of(.verificationPassed)
        let statements = purchase.events.of(.purchaseCompleted, .purchaseRenewed) + verdicts
        let known = statements.filter { $0.sequence < claim.sequence }
        return !known.isEmpty && known.allSatisfy(\.isLate)
            && !verdicts.contains { $0.data.text(.method) == "store_api" && !$0.isLate }
    }

    /// Every instant after T at which anything might change, and many at which nothing does.
    func boundaries(after instant: Instant) -> [Instant] {
        var instants: [Instant] = []
        for event in events {
            instants += [event.time, event.event.observedAt]
            for entry in event.data.entries {
                if case .instant(let value) = entry.value { instants.append(value) }
            }
        }
        instants += catalogs.flatMap { catalog in
            instants.map { $0.advanced(byMilliseconds: catalog.leewayMilliseconds) }
        }
        instants += durationEnds
        instants += catalogs.map(\.event.time)
        instants += trials.compactMap(\.interval.end)
        instants += catalogs.flatMap { windowEnds(in: $0, at: instant) }
        return Set(instants).filter { $0 > instant }.sorted()
    }

    /// The ends that any catalog's durations give what was bought (P2).
    private var durationEnds: [Instant] {
        let durations = catalogs.flatMap { $0.document["products"]?.array ?? [] }
            .compactMap { $0["duration"]?.string.flatMap(SlowDuration.init) }
        return events.of(.purchaseCompleted, .purchaseRenewed).flatMap { event in
            durations.compactMap { $0.end(from: event.time) }
        }
    }

    /// The ends of the windows that contain T, of every limit.
    private func windowEnds(in catalog: SlowCatalog, at instant: Instant) -> [Instant] {
        catalog.features.flatMap { feature in
            (feature.limits.members ?? []).compactMap { limit -> Instant? in
                guard let perPeriod = limit.value["perPeriod"],
                    let period = perPeriod["period"]?.string
                else { return nil }
                let zone = SlowZone(perPeriod["timeZone"]?.string ?? "UTC", in: catalog.document)
                return zone.window(of: period, at: instant).end
            }
        }
    }
}
