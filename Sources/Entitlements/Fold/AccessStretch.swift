/// A stretch of time in which something unlocks features.
public struct AccessStretch: Sendable {
    /// When.
    public var interval: Interval
    /// What gives the access.
    public var source: AccessSource
    /// What it unlocks.
    public var right: Right

    /// What a stretch unlocks, read in the catalog in force at T.
    public enum Right: Sendable {
        /// What the catalogs say of a product (K2, K3).
        case product(ProductRight)
        /// Features and a tier by name (C3, C4).
        case named(features: [String], tier: String?)
    }

    /// A product as a store names it.
    public struct ProductRight: Sendable, Hashable {
        /// The store (K9).
        public var store: String
        /// The store's product id.
        public var productID: String
        /// The period's start if it is non-consumable: what it unlocked then is kept (K3).
        public var keptSince: Instant?
    }
}

/// What gives access.
public enum AccessSource: Hashable, Sendable {
    /// A purchase, by its number.
    case purchase(UInt64)
    /// An app's trial, by its catalog id.
    case trial(String)
    /// A grant, by the sequence of its `grant.given`.
    case grant(UInt64)

    /// The reason that it is (interfaces.md).
    var reason: AccessReason {
        switch self {
        case .purchase: .purchase
        case .trial: .trial
        case .grant: .grant
        }
    }
}

/// Why a feature is allowed: the first that holds.
public enum AccessReason: String, Sendable, Comparable, CaseIterable {
    case free, purchase, trial, grant, none

    /// Orders by precedence.
    public static func < (left: AccessReason, right: AccessReason) -> Bool {
        left.order < right.order
    }

    private var order: Int { Self.allCases.firstIndex(of: self) ?? Self.allCases.count }
}

extension CustomerTimeline {
    /// C1, C3, C4: all that unlocks something, stretch by stretch.
    static func stretches(
        _ purchases: [OwnedPurchase],
        _ grants: [Grant],
        _ trials: [Trial]
    ) -> [AccessStretch] {
        var stretches: [AccessStretch] = []
        for purchase in purchases {
            for period in purchase.timeline.periods {
                let right = AccessStretch.Right.product(
                    AccessStretch.ProductRight(
                        store: purchase.timeline.store ?? "",
                        productID: period.productID,
                        keptSince: period.kind == .nonConsumable ? period.start : nil
                    )
                )
                for access in period.access {
                    for owned in purchase.ownership {
                        guard let interval = access.intersection(owned) else { continue }
                        stretches.append(
                            AccessStretch(
                                interval: interval,
                                source: .purchase(purchase.timeline.number),
                                right: right
                            )
                        )
                    }
                }
            }
        }
        for grant in grants where !grant.interval.isEmpty {
            stretches.append(
                AccessStretch(
                    interval: grant.interval,
                    source: .grant(grant.sequence),
                    right: .named(features: grant.features, tier: grant.tier)
                )
            )
        }
        for trial in trials where !trial.interval.isEmpty {
            stretches.append(
                AccessStretch(
                    interval: trial.interval,
                    source: .trial(trial.id),
                    right: .named(features: trial.features, tier: trial.tier)
                )
            )
        }
        return stretches
    }
}
