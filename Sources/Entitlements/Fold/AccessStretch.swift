package import Encodings

/// A stretch of time in which something unlocks features.
package struct AccessStretch: Sendable {
    /// When.
    package var interval: Interval
    /// What gives the access.
    package var source: AccessSource
    /// What it unlocks.
    package var right: Right
    /// The place of the source among those of the timeline: equal for stretches of one source.
    var sourceNumber: Int
    /// Stretches of one number unlock the same; those of different numbers may, too.
    var rightNumber: Int

    /// What a stretch unlocks, read in the catalog in force at T.
    package enum Right: Sendable {
        /// What the catalogs say of a product (K2, K3).
        case product(ProductRight)
        /// Features and a tier by name (C3, C4).
        case named(features: [String], tier: String?)
    }

    /// A product as a store names it.
    package struct ProductRight: Sendable, Hashable {
        /// The store (K9).
        package var store: String
        /// The store's product id.
        @Bytewise package var productID: String
        /// The period's start if it is non-consumable: what it unlocked then is kept (K3).
        package var keptSince: Instant?
    }
}

/// What gives access.
package enum AccessSource: Hashable, Sendable {
    /// A purchase, by its number.
    case purchase(UInt64)
    /// An app's trial, by its catalog id.
    case trial(String)
    /// A grant, by the sequence of its `grant.given`.
    case grant(UInt64)

    /// Ids are bytes.
    package static func == (left: AccessSource, right: AccessSource) -> Bool {
        switch (left, right) {
        case (.purchase(let number), .purchase(let other)): number == other
        case (.trial(let id), .trial(let other)): id.isSame(as: other)
        case (.grant(let sequence), .grant(let other)): sequence == other
        default: false
        }
    }

    /// The reason that it is (Interfaces, "Shapes").
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

    private var order: Int {
        switch self {
        case .free: 0
        case .purchase: 1
        case .trial: 2
        case .grant: 3
        case .none: 4
        }
    }
}

extension CustomerTimeline {
    /// C1, C3, C4: all that unlocks something, stretch by stretch.
    static func stretches(
        _ purchases: [OwnedPurchase],
        _ grants: [Grant],
        _ trials: [Trial]
    ) -> [AccessStretch] {
        var stretches = Stretches()
        for purchase in purchases { stretches.add(purchase) }
        for grant in grants where !grant.interval.isEmpty {
            stretches.beginSource()
            stretches.add(
                grant.interval,
                of: .grant(grant.sequence),
                unlocking: .named(features: grant.features, tier: grant.tier)
            )
        }
        for trial in trials where !trial.interval.isEmpty {
            stretches.beginSource()
            stretches.add(
                trial.interval,
                of: .trial(trial.id),
                unlocking: .named(features: trial.features, tier: trial.tier)
            )
        }
        return stretches.all
    }
}

/// Stretches that are being gathered.
private struct Stretches {
    var all: [AccessStretch] = []
    private var sources = 0
    private var rights = 0
    /// What the last period of the source unlocks.
    private var lastRight: AccessStretch.ProductRight?

    mutating func beginSource() {
        sources += 1
        rights += 1
        lastRight = nil
    }

    /// The stretches of a purchase that the customer owns.
    mutating func add(_ purchase: CustomerTimeline.OwnedPurchase) {
        beginSource()
        let timeline = purchase.timeline
        for period in timeline.periods where !period.access.isEmpty {
            let right = AccessStretch.ProductRight(
                store: timeline.store ?? "",
                productID: period.productID,
                keptSince: period.kind == .nonConsumable ? period.start : nil
            )
            if right != lastRight { rights += 1 }
            lastRight = right
            for access in period.access {
                for owned in purchase.ownership {
                    guard let interval = access.intersection(owned) else { continue }
                    add(interval, of: .purchase(timeline.number), unlocking: .product(right))
                }
            }
        }
    }

    mutating func add(
        _ interval: Interval,
        of source: AccessSource,
        unlocking right: AccessStretch.Right
    ) {
        all.append(
            AccessStretch(
                interval: interval,
                source: source,
                right: right,
                sourceNumber: sources - 1,
                rightNumber: rights
            )
        )
    }
}
