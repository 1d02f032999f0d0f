/// Facts apart by the purchase that they concern.
struct FactsByPurchase {
    private let facts: [Fact]
    /// Ascending by purchase; within a purchase in the order of the facts.
    private var places: [(purchase: UInt64, index: Int)] = []

    /// Groups those of some facts that concern a purchase.
    ///
    /// `purchase`: the purchase that a fact concerns; nil: it is left out.
    init(_ facts: [Fact], purchase: (Fact) -> UInt64?) {
        self.facts = facts
        for index in facts.indices {
            if let purchase = purchase(facts[index]) { places.append((purchase, index)) }
        }
        places.sort { ($0.purchase, $0.index) < ($1.purchase, $1.index) }
    }

    /// Hands out the purchases in the order of their numbers.
    func forEach(_ body: (_ purchase: UInt64, [Fact]) -> Void) {
        var start = 0
        while start < places.count {
            let group = places[start...].prefix { $0.purchase == places[start].purchase }
            body(places[start].purchase, group.map { facts[$0.index] })
            start = group.endIndex
        }
    }

    /// The facts about a purchase, in their order.
    ///
    /// Cost: O(log n) and a copy of them.
    subscript(purchase: UInt64) -> [Fact] {
        var (low, high) = (0, places.count)
        while low < high {
            let middle = low + (high - low) / 2
            if places[middle].purchase < purchase { low = middle + 1 } else { high = middle }
        }
        return places[low...].prefix { $0.purchase == purchase }.map { facts[$0.index] }
    }
}
