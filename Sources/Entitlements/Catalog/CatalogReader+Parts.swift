import Encodings

extension CatalogReader {
    mutating func feature(_ json: JSONValue, _ path: String) -> Catalog.Feature {
        let highest = max(tiers.count - 1, 0)
        return Catalog.Feature(
            id: text(json["id"], path + ".id"),
            level: tier(json["level"], path + ".level") ?? highest,
            limits: limits(json["limits"], path + ".limits") ?? [:]
        )
    }

    mutating func limits(_ json: JSONValue?, _ path: String) -> [Int: Catalog.Limit]? {
        guard let json, !json.isNull else { return nil }
        guard let members = json.members else {
            note(.malformed, path, "expected an object of tiers")
            return nil
        }
        var limits: [Int: Catalog.Limit] = [:]
        for (member, memberPath) in self.members(members, path, .tiers) {
            guard let tier = tier(.string(member.name), memberPath) else { continue }
            limits[tier] = limit(member.value, memberPath)
        }
        return limits
    }

    private mutating func limit(_ json: JSONValue, _ path: String) -> Catalog.Limit {
        var limit = Catalog.Limit()
        if let perUse = json["perUse"], !perUse.isNull {
            limit.perUse = Catalog.PerUse(
                amount: integer(perUse["amount"], path + ".perUse.amount", Catalog.limitRange),
                unit: perUse["unit"].map { text($0, path + ".perUse.unit") }
            )
        }
        if let perPeriod = json["perPeriod"], !perPeriod.isNull {
            limit.perPeriod = self.perPeriod(perPeriod, path + ".perPeriod")
        }
        if limit.perUse == nil && limit.perPeriod == nil {
            note(.noPeriod, path, "expected perUse or perPeriod")
        }
        return limit
    }

    private mutating func perPeriod(_ json: JSONValue, _ path: String) -> Catalog.PerPeriod {
        let name = json["period"]?.string
        if name.flatMap(UsagePeriod.init) == nil {
            note(.noPeriod, path + ".period", "expected day, week or month")
        }
        let zone = json["timeZone"].map { text($0, path + ".timeZone") } ?? "UTC"
        if zone != "UTC" { zoneNames.insert(zone) }
        if zone != "UTC" && !resolvedZoneNames.contains(zone) {
            note(.unknownTimeZone, path + ".timeZone", "not a time zone that is known here")
        }
        return Catalog.PerPeriod(
            count: integer(json["count"], path + ".count", Catalog.limitRange),
            period: name.flatMap(UsagePeriod.init) ?? .day,
            timeZone: zone
        )
    }

    mutating func product(_ json: JSONValue, _ path: String) -> Catalog.Product {
        let kind = json["kind"]?.string.flatMap(ProductKind.init(name:))
        if kind == nil {
            note(
                .malformed,
                path + ".kind",
                "expected " + ProductKind.names.joined(separator: ", ")
            )
        }
        return Catalog.Product(
            id: text(json["id"], path + ".id"),
            stores: stores(json["stores"], path + ".stores"),
            kind: kind ?? .consumable,
            unlocks: unlocks(json["unlocks"], path + ".unlocks"),
            duration: duration(json["duration"], path + ".duration", of: kind),
            titles: ProductText.titles(of: json)
        )
    }

    private mutating func stores(_ json: JSONValue?, _ path: String) -> [String: [String]] {
        guard let json, !json.isNull else { return [:] }
        guard let members = json.members else {
            note(.malformed, path, "expected an object of stores")
            return [:]
        }
        var stores: [String: [String]] = [:]
        for (member, memberPath) in self.members(members, path, .stores) {
            if !Identifier.isStore(member.name) {
                note(.malformed, memberPath, "a store's name is lower snake case")
            }
            stores[member.name] = array(member.value, memberPath, .storeIDs).map { text($0, $1) }
        }
        return stores
    }

    /// What was recorded before durations were read is no fault: it is passed over.
    private mutating func duration(
        _ json: JSONValue?,
        _ path: String,
        of kind: ProductKind?
    ) -> CatalogDuration? {
        guard let json, !json.isNull else { return nil }
        let duration = json.string.flatMap { CatalogDuration($0) }
        if isLimited, duration == nil {
            note(.malformed, path, "expected a duration such as P30D, P2W, P6M or P1Y")
        }
        if isLimited, kind != nil, kind != .nonRenewing {
            note(.malformed, path, "only a non_renewing product has a duration")
        }
        return kind == .nonRenewing ? duration : nil
    }

    private mutating func unlocks(_ json: JSONValue?, _ path: String) -> Catalog.Unlocks {
        if let json, json.members == nil, !json.isNull {
            note(.malformed, path, "expected an object")
        }
        let all = json?["all"]
        if let all, all.bool == nil { note(.malformed, path + ".all", "expected true or false") }
        return Catalog.Unlocks(
            features: knownFeatures(json?["features"], path + ".features"),
            tier: tier(json?["tier"], path + ".tier"),
            all: all?.bool ?? false
        )
    }

    /// K10: no store sells two products under one id, be it named or by default (K9).
    mutating func noteAmbiguousProducts(_ products: [Catalog.Product]) {
        let named = Set(products.flatMap { $0.stores.keys }.map { AppleStore.canonical($0) })
        guard !isLimited || named.count <= CatalogList.storeLimit else {
            let most = CatalogList.storeLimit
            return note(.outOfRange, "products", "expected at most \(most) stores in all")
        }
        for store in named.sortedByBytes() {
            let keys = AppleStore.keys(of: store)
            // What was recorded while Apple's keys were two stores may not be plain as one: there the
            // first product counts.
            if keys.second != nil && !isLimited { continue }
            var seen: Set<Name> = []
            for (index, product) in products.enumerated() {
                let lists = [keys.first, keys.second].compactMap {
                    $0.flatMap { product.stores[$0] }
                }
                // A product may have one id under both keys.
                let ids = lists.count == 2 ? Set(texts: lists.joined()).texts : lists.first
                for id in ids ?? [product.id] where !seen.insert(Name(id)).inserted {
                    note(
                        .ambiguousProduct,
                        "products[\(index)]",
                        "\(store) sells two products under one id"
                    )
                }
            }
        }
    }

    mutating func trial(_ json: JSONValue, _ path: String) -> Catalog.Trial {
        let tier = tier(json["tier"], path + ".tier")
        return Catalog.Trial(
            id: text(json["id"], path + ".id"),
            days: integer(json["days"], path + ".days", Catalog.trialDayRange),
            features: knownFeatures(json["features"], path + ".features"),
            tier: tier.map { tiers[$0] }
        )
    }

    /// Offerings are presentation: only what they name is checked.
    mutating func checkOfferings() {
        checkOfferings(document["offerings"], "offerings")
    }

    private mutating func checkOfferings(_ json: JSONValue?, _ path: String) {
        for (offering, path) in array(json, path, .offerings) {
            if let feature = offering["feature"], !feature.isNull {
                _ = knownFeature(feature, path + ".feature")
            }
            for (product, path) in array(offering["products"], path + ".products", .named)
            where !productIDs.contains(text(product, path)) {
                note(.unknownProduct, path, "not among the products")
            }
        }
    }

    mutating func experiment(_ json: JSONValue, _ path: String) -> Experiment {
        let variants = array(json["variants"], path + ".variants", .variants).map {
            variant($0, $1)
        }
        if isLimited {
            // What was recorded before stays as it is.
            var seen: Set<Name> = []
            for (index, variant) in variants.enumerated()
            where !seen.insert(Name(variant.id)).inserted {
                note(.duplicateID, path + ".variants[\(index)].id", "given twice")
            }
        }
        let total = variants.reduce(Int64(0)) { $0.addingReportingOverflow($1.weight).partialValue }
        if total <= 0 { note(.noWeight, path + ".variants", "the weights sum to nothing") }
        return Experiment(id: text(json["id"], path + ".id"), variants: variants)
    }

    private mutating func variant(_ json: JSONValue, _ path: String) -> Experiment.Variant {
        let overrides = json["overrides"]
        checkOfferings(overrides?["offerings"], path + ".overrides.offerings")
        return Experiment.Variant(
            id: text(json["id"], path + ".id"),
            weight: integer(json["weight"], path + ".weight", Catalog.weightRange),
            overrides: array(overrides?["features"], path + ".overrides.features", .named)
                .map { override($0, $1) }
        )
    }

    private mutating func override(_ json: JSONValue, _ path: String) -> Experiment.Override {
        Experiment.Override(
            feature: knownFeature(json["id"], path + ".id"),
            level: tier(json["level"], path + ".level"),
            limits: limits(json["limits"], path + ".limits")
        )
    }

    mutating func policy() -> Catalog.Policy {
        let json = document["policy"]
        let claim = json?["claim"]
        if let claim, claim.string.flatMap(Catalog.ClaimPolicy.init) == nil {
            note(.malformed, "policy.claim", "expected keep or transfer")
        }
        let leeway = json?["renewalLeewaySeconds"]
        return Catalog.Policy(
            claim: claim?.string.flatMap(Catalog.ClaimPolicy.init) ?? .keep,
            renewalLeewaySeconds: leeway.map {
                integer($0, "policy.renewalLeewaySeconds", Catalog.leewaySecondRange)
            } ?? 0
        )
    }

    /// Zones as publish stored them: offsets over time.
    mutating func resolvedZones() -> [String: ResolvedZone] {
        var zones = ["UTC": ResolvedZone.utc]
        let given = document["timeZones"]?["zones"]?.members ?? []
        for (member, path) in members(given, "timeZones.zones", .zones) {
            let offset = integer(
                member.value["offsetSeconds"],
                path + ".offsetSeconds",
                Catalog.offsetSecondRange
            )
            var transitions: [ResolvedZone.Transition] = []
            let changes = member.value["transitions"]
            for (pair, path) in array(changes, path + ".transitions", .transitions) {
                guard let at = pair.array?.first?.integer, pair.array?.count == 2,
                    let offset = pair.array?.last?.integer,
                    Catalog.offsetSecondRange.contains(offset),
                    transitions.last.map({ $0.at.milliseconds < at }) ?? true
                else {
                    note(.malformed, path, "expected [milliseconds, offsetSeconds], ascending")
                    continue
                }
                transitions.append(
                    ResolvedZone.Transition(
                        at: Instant(milliseconds: at),
                        offsetSeconds: offset
                    )
                )
            }
            zones[member.name] = ResolvedZone(
                initialOffsetSeconds: offset,
                transitions: transitions
            )
        }
        return zones
    }
}
