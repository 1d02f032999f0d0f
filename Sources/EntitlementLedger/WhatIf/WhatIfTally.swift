import Encodings
import Entitlements

/// What one core counts of a what-if question.
struct WhatIfTally: Sendable {
    private(set) var customers: UInt64 = 0
    private(set) var affected = Count()
    private(set) var features: [Name: Count] = [:]
    private(set) var products: [AccessChange.Product: (holders: UInt64, count: Count)] = [:]
    private(set) var tiers: [Move: UInt64] = [:]
    private(set) var gains: LowestEntries
    private(set) var losses: LowestEntries

    /// Customers who gain something, and who lose something.
    struct Count: Sendable {
        var gaining: UInt64 = 0
        var losing: UInt64 = 0

        static func += (left: inout Count, right: Count) {
            left.gaining += right.gaining
            left.losing += right.losing
        }
    }

    /// From one tier to another.
    struct Move: Hashable, Sendable {
        @Bytewise var before: String
        @Bytewise var after: String
    }

    /// `sampleLimit`: how many gains and how many losses are kept.
    init(sampleLimit: Int) {
        gains = LowestEntries(limit: sampleLimit)
        losses = LowestEntries(limit: sampleLimit)
    }

    /// Counts a customer.
    mutating func add(_ change: AccessChange, of customer: UInt64) {
        customers += 1
        let count = Count(
            gaining: change.gains.isEmpty ? 0 : 1,
            losing: change.losses.isEmpty ? 0 : 1
        )
        affected += count
        for product in change.products {
            products[product, default: (0, Count())].holders += 1
            products[product]?.count += count
        }
        if !change.tierBefore.isSame(as: change.tierAfter) {
            tiers[Move(before: change.tierBefore, after: change.tierAfter), default: 0] += 1
        }
        for feature in change.gains {
            features[Name(feature.id), default: Count()].gaining += 1
            gains.add(feature, of: customer)
        }
        for feature in change.losses {
            features[Name(feature.id), default: Count()].losing += 1
            losses.add(feature, of: customer)
        }
    }

    /// Adds what another core counted.
    mutating func merge(_ other: WhatIfTally) {
        customers += other.customers
        affected += other.affected
        features.merge(other.features) { left, right in
            var sum = left
            sum += right
            return sum
        }
        products.merge(other.products) { left, right in
            var sum = (holders: left.holders + right.holders, count: left.count)
            sum.count += right.count
            return sum
        }
        tiers.merge(other.tiers) { $0 + $1 }
        gains.merge(other.gains)
        losses.merge(other.losses)
    }
}

/// The entries of the lowest customers' numbers: the same ones, whichever core met them first.
struct LowestEntries: Sendable {
    /// A feature that a customer gains or loses.
    struct Entry: Sendable {
        var customer: UInt64
        var feature: AccessChange.Feature
    }

    private let limit: Int
    private var entries: [Entry] = []
    /// Whoever comes behind is not among the lowest.
    private var highest = UInt64.max

    init(limit: Int) { self.limit = limit }

    /// The lowest, in order.
    var lowest: [Entry] {
        Array(
            entries.sorted {
                ($0.customer, Name($0.feature.id)) < ($1.customer, Name($1.feature.id))
            }
            .prefix(limit)
        )
    }

    mutating func add(_ feature: AccessChange.Feature, of customer: UInt64) {
        guard limit > 0, customer <= highest else { return }
        entries.append(Entry(customer: customer, feature: feature))
        // Sorted seldom, so that an entry costs little.
        guard entries.count >= 2 * limit + 64 else { return }
        entries = lowest
        highest = entries.last?.customer ?? .max
    }

    mutating func merge(_ other: LowestEntries) {
        entries += other.entries
        entries = lowest
    }
}
