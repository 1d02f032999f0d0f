import Crypto
import Encodings
import Entitlements
import Foundation

/// A catalog document as the rules read it.
struct SlowCatalog {
    struct Feature {
        var id: String
        var level: String
        var limits: JSONValue
    }

    /// What something unlocks in a catalog.
    struct Unlocked {
        var features: [String] = []
        var tier: String?
    }

    let event: RecordedEvent
    let document: JSONValue
    let tiers: [String]
    var features: [Feature]

    init(event: RecordedEvent) {
        self.event = event
        document = event.data.document ?? .object([])
        let tiers = (document["tiers"]?.array ?? []).compactMap(\.string)
        self.tiers = tiers
        features = (document["features"]?.array ?? []).map {
            Feature(
                id: $0["id"]?.string ?? "",
                // Section 5: the level is the highest tier by default.
                level: $0["level"]?.string ?? tiers.last ?? "free",
                limits: $0["limits"] ?? .null
            )
        }
    }

    /// K8: the catalog as this customer has it, experiments applied in list order.
    func asSeen(by customer: String) -> SlowCatalog {
        var result = self
        for experiment in document["experiments"]?.array ?? [] {
            guard let variant = Self.variant(of: experiment, for: customer) else { continue }
            for override in variant["overrides"]?["features"]?.array ?? [] {
                for index in result.features.indices
                where result.features[index].id == override["id"]?.string {
                    if let level = override["level"]?.string {
                        result.features[index].level = level
                    }
                    if let limits = override["limits"] { result.features[index].limits = limits }
                }
            }
        }
        return result
    }

    /// K8: the first variant with `cumulated / total > x`, x a 64-bit fraction.
    static func variant(of experiment: JSONValue, for customer: String) -> JSONValue? {
        let name = experiment["id"]?.string ?? ""
        let digest = SHA256.hash(data: Array(name.utf8) + [0] + Array(customer.utf8))
        var x: UInt128 = 0
        for byte in digest.prefix(8) { x = x * 256 + UInt128(byte) }
        let variants = experiment["variants"]?.array ?? []
        let weights = variants.map { UInt128($0["weight"]?.integer ?? 0) }
        let total = weights.reduce(0, +)
        var cumulated: UInt128 = 0
        for (variant, weight) in zip(variants, weights) {
            cumulated += weight
            // cumulated / total > x / 2^64
            if cumulated << 64 > x * total { return variant }
        }
        return nil
    }

    /// K9: the product of a store's product id.
    func product(_ productID: String, in store: String) -> JSONValue? {
        let apple = ["app_store", "mac_app_store"]
        let keys = apple.contains(store) ? apple : [store]
        return (document["products"]?.array ?? []).first { product in
            let lists = keys.compactMap { product["stores"]?[$0]?.array }
            if lists.isEmpty { return product["id"]?.string == productID }
            return lists.joined().contains { $0.string == productID }
        }
    }

    /// K2: what a product unlocks by this catalog.
    func unlocked(by product: JSONValue) -> Unlocked {
        let unlocks = product["unlocks"] ?? .object([])
        var result = Unlocked(features: (unlocks["features"]?.array ?? []).compactMap(\.string))
        if let tier = unlocks["tier"]?.string {
            result.features += featuresUnlocked(byTier: tier)
            result.tier = tier
        }
        if unlocks["all"]?.bool == true {
            result.features += features.map(\.id)
            result.tier = tiers.last  // K7: `all` counts as the highest
        }
        return result
    }

    /// K2: every feature whose level is at or below the tier; an unlisted tier unlocks nothing.
    func featuresUnlocked(byTier tier: String) -> [String] {
        guard let rank = tiers.firstIndex(of: tier) else { return [] }
        return features.filter { feature in
            tiers.firstIndex(of: feature.level).map { $0 <= rank } ?? false
        }.map(\.id)
    }

    func trial(_ id: String) -> JSONValue? {
        (document["trials"]?.array ?? []).first { $0["id"]?.string == id }
    }

    /// P12: L, in milliseconds; `policy` has no overrides (K8).
    var leewayMilliseconds: Int64 {
        (document["policy"]?["renewalLeewaySeconds"]?.integer ?? 0) * 1000
    }
}

extension [SlowCatalog] {
    /// K1: the newest by `(time, sequence)` with `time <= T`; before the first, the first.
    func inForce(at instant: Instant) -> SlowCatalog? {
        let ordered = sorted { $1.event.isLater(than: $0.event) }
        return ordered.last { $0.event.time <= instant } ?? ordered.first
    }

    /// The catalog in force at an instant, and all that are in force later.
    func inForceAndLater(from instant: Instant) -> [SlowCatalog] {
        guard let first = inForce(at: instant) else { return [] }
        return [first]
            + sorted { $1.event.isLater(than: $0.event) }
            .filter { $0.event.isLater(than: first.event) }
    }
}

/// A product's duration (P2), by the calendar of another library.
struct SlowDuration {
    private let component: Calendar.Component
    private let count: Int

    init?(_ text: String) {
        guard text.hasPrefix("P"), let count = Int(text.dropFirst().dropLast()) else { return nil }
        switch text.last {
        case "D": (component, self.count) = (.second, count * 86_400)
        case "W": (component, self.count) = (.second, count * 7 * 86_400)
        case "M": (component, self.count) = (.month, count)
        case "Y": (component, self.count) = (.year, count)
        default: return nil
        }
    }

    func end(from start: Instant) -> Instant? {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = .gmt
        // Whole seconds: a fraction of a `Date` is not exact.
        let seconds = start.milliseconds / 1000
        let date = Date(timeIntervalSince1970: Double(seconds))
        return calendar.date(byAdding: component, value: count, to: date).map {
            Instant(
                milliseconds: Int64($0.timeIntervalSince1970) * 1000 + start.milliseconds % 1000
            )
        }
    }
}
