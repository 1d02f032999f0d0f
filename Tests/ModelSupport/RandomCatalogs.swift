package import Encodings
import Entitlements

extension RandomEvents {
    /// A document that K10 lets pass.
    package mutating func catalog() -> JSONValue {
        var tiers = ["free"] + random.some(of: Array(Self.tiers.dropFirst()), 70)
        if tiers.count == 1 { tiers.append("plus") }
        if random.chance(10) { tiers = ["free"] + tiers.dropFirst().reversed() }
        var features = random.some(of: Self.features, 85)
        if features.isEmpty { features = ["f1"] }
        if random.chance(20) { features.reverse() }
        var members = [
            JSONMember("tiers", .strings(tiers)),
            JSONMember(
                "features",
                .array(features.map { feature($0, tiers, level: 80, limits: 55) })
            ),
            JSONMember("products", .array(products(tiers, features))),
        ]
        members.append(JSONMember("trials", .array(trials(tiers, features))))
        if random.chance(50) {
            let count = random.pick([1, 1, 2])
            let experiments = (1...count).map { experiment("x\($0)", tiers, features) }
            members.append(JSONMember("experiments", .array(experiments)))
        }
        if random.chance(70) {
            let leeway = random.pick([0, 3600, step / 1000, step / 2000, step / 500])
            members.append(
                JSONMember(
                    "policy",
                    .members([
                        "claim": .string(random.pick(["keep", "transfer"])),
                        "renewalLeewaySeconds": .integer(leeway),
                    ])
                )
            )
        }
        if JSONValue.object(members).description.contains("Test/Zone") {
            members.append(JSONMember("timeZones", zones()))
        }
        return .object(members)
    }

    /// With a level and limits in so many of a hundred cases.
    private mutating func feature(
        _ id: String,
        _ tiers: [String],
        level: Int,
        limits: Int
    ) -> JSONValue {
        var members = [JSONMember("id", .string(id))]
        if random.chance(level) {
            let paid = Array(tiers.dropFirst())
            let level = id == "open" || random.chance(10) ? "free" : random.pick(paid)
            members.append(JSONMember("level", .string(level)))
        }
        if random.chance(limits) {
            let perTier = random.some(of: tiers, 70).map { JSONMember($0, limit()) }
            members.append(JSONMember("limits", .object(perTier)))
        }
        return .object(members)
    }

    private mutating func limit() -> JSONValue {
        var members: [JSONMember] = []
        if random.chance(40) {
            var use = [JSONMember("amount", .integer(random.pick([1, 60])))]
            if random.chance(70) { use.append(JSONMember("unit", "seconds")) }
            members.append(JSONMember("perUse", .object(use)))
        }
        if members.isEmpty || random.chance(80) {
            var period = [
                JSONMember("count", .integer(random.pick([0, 1, 2, 3]))),
                JSONMember("period", .string(random.pick(["day", "week", "month"]))),
            ]
            if random.chance(70) {
                let zone = random.chance(30) ? "UTC" : "Test/Zone"
                period.append(JSONMember("timeZone", .string(zone)))
            }
            members.append(JSONMember("perPeriod", .object(period)))
        }
        return .object(members)
    }

    private mutating func unlocks(_ tiers: [String], _ features: [String]) -> [JSONMember] {
        var members: [JSONMember] = []
        if random.chance(60) {
            members.append(JSONMember("features", .strings(random.some(of: features, 40))))
        }
        if random.chance(65) {
            members.append(JSONMember("tier", .string(random.pick(tiers.reversed(), skewed: true))))
        }
        return members
    }

    /// No two products for one store id (K10).
    private mutating func products(_ tiers: [String], _ features: [String]) -> [JSONValue] {
        let stores = [["app_store", "mac_app_store"], ["play_store"], ["stripe"]]
        var taken: [[String]: Set<String>] = [:]
        var products: [JSONValue] = []
        for id in random.some(of: Self.products, 88) {
            var ids: [String: [String]] = [:]
            for store in random.some(of: stores.flatMap(\.self), 20) {
                ids[store] = random.some(of: [id] + Self.products.suffix(2), 45)
            }
            func sold(_ keys: [String]) -> [String] {
                let named = keys.compactMap { ids[$0] }
                return named.isEmpty ? [id] : named.flatMap(\.self)
            }
            let isFree = stores.allSatisfy { keys in
                taken[keys, default: []].isDisjoint(with: sold(keys))
            }
            if !isFree { continue }
            for keys in stores { taken[keys, default: []].formUnion(sold(keys)) }
            var unlocked = unlocks(tiers, features)
            if random.chance(12) { unlocked.append(JSONMember("all", .bool(random.chance(80)))) }
            var members = [
                JSONMember("id", .string(id)),
                JSONMember("kind", .string(Self.usualKinds[id] ?? "auto_renewable")),
                JSONMember("unlocks", .object(unlocked)),
            ]
            if Self.usualKinds[id] == "non_renewing", random.chance(70) {
                let duration = random.pick(["P1D", "P10D", "P2W", "P1M", "P6M", "P1Y"])
                members.append(JSONMember("duration", .string(duration)))
            }
            if !ids.isEmpty {
                let named = ids.sorted { $0.key < $1.key }.map {
                    JSONMember($0.key, .strings(Array(Set($0.value)).sorted()))
                }
                members.append(JSONMember("stores", .object(named)))
            }
            products.append(.object(members))
        }
        return products
    }

    private mutating func trials(_ tiers: [String], _ features: [String]) -> [JSONValue] {
        random.some(of: ["week", "day"], 75).map { id in
            let days = id == "week" ? Int64(7) : random.pick([0, 1, 3])
            return .object(
                [JSONMember("id", .string(id)), JSONMember("days", .integer(days))]
                    + unlocks(tiers, features)
            )
        }
    }

    private mutating func experiment(
        _ id: String,
        _ tiers: [String],
        _ features: [String]
    ) -> JSONValue {
        let variants = (0..<random.pick([2, 3])).map { index -> JSONValue in
            var members = [
                JSONMember("id", .string("v\(index)")),
                // The first weight is never 0, so that they sum to something (K10).
                JSONMember("weight", .integer(index == 0 ? 1 : random.pick([0, 1, 2, 5]))),
            ]
            if random.chance(70) {
                let overrides = random.some(of: features, 40).map {
                    feature($0, tiers, level: 60, limits: 40)
                }
                members.append(
                    JSONMember("overrides", .members(["features": .array(overrides)]))
                )
            }
            return .object(members)
        }
        return .members(["id": .string(id), "variants": .array(variants)])
    }

    /// "Test/Zone": a few transitions within the history, both ways, some at local midnight,
    /// one that skips or repeats a whole day at times.
    private mutating func zones() -> JSONValue {
        let hour: Int64 = 3600
        let first = random.pick([-11 * hour, -5 * hour, 0, hour, 5 * hour + 1800, 13 * hour])
        var offset = first
        var transitions: [JSONValue] = []
        for instant in random.some(of: grid, 20).prefix(4) {
            let atMidnight = random.chance(50) ? offset * 1000 : 0
            let at = instant.milliseconds - atMidnight
            let last = transitions.last?.array?.first?.integer ?? .min
            guard at > last else { continue }
            let change = random.chance(8) ? 24 * hour : random.pick([hour, hour / 2, 2 * hour])
            offset += offset > 0 || (offset == 0 && random.chance(50)) ? -change : change
            transitions.append(.array([.integer(at), .integer(offset)]))
        }
        let zone = JSONValue.members([
            "offsetSeconds": .integer(first), "transitions": .array(transitions),
        ])
        return .members([
            "tzdata": "2025b", "zones": .members(["Test/Zone": zone]),
        ])
    }
}
