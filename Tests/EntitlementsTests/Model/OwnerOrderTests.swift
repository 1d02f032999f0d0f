import Encodings
import Entitlements
import ModelSupport
import Testing

/// Stories with owners, told in every order (T5, C1).
struct `The owner of a purchase` {
    /// Orders of a story with more events are drawn by lot.
    private static let orderLimit = 720

    /// Every row that has a claim, an account or a transfer in it.
    private static let stories = (ModelRow.accounts + ModelRow.customer).filter { row in
        [" claim ", "account=", "transferred", "start\n"].contains { row.story.contains($0) }
            && !row.story.contains("customer.erased")
    }

    // T5, C1, E4: what a store says is never decided at append.
    @Test(arguments: stories)
    func `is the same in whatever order a story is told`(_ row: ModelRow) throws {
        let log = try Story(row.story).log.withoutTies
        let customers = Self.customers(in: log)
        let instants = log.map(\.time).flatMap { [$0, $0.advanced(byMilliseconds: 1)] }
        let first = Self.answers(log, customers, instants)
        // The control: owners differ between customers or instants.
        #expect(Set(first).count > 1)
        for order in Self.orders(log.count) {
            let answers = Self.answers(log.arriving(in: order), customers, instants)
            #expect(answers == first, "told in the order \(order)")
            if answers != first { return }
        }
    }

    /// What is answered about each customer at each instant.
    private static func answers(
        _ log: [RecordedEvent],
        _ customers: [String],
        _ instants: [Instant]
    ) -> [String] {
        customers.flatMap { customer in
            instants.map { instant in
                let answer = fastShow(
                    log: log,
                    customer: customer,
                    environment: .production,
                    at: instant
                )
                // Without the customer, whose name would set apart what is alike.
                return "\(answer?["purchases"]?.description ?? "") "
                    + "\(answer?["tier"]?.description ?? "")"
            }
        }
    }

    private static func customers(in log: [RecordedEvent]) -> [String] {
        let named = log.flatMap { recorded -> [String] in
            var names = recorded.data.texts(.from) ?? []
            names += [recorded.data.text(.account)].compactMap(\.self)
            if case .customer(let id) = recorded.event.subject { names.append(id.text) }
            return names
        }
        return Set(named).sorted()
    }

    /// Every order of so many events, or as many by lot as the limit says.
    private static func orders(_ count: Int) -> [[Int]] {
        let all = Array(0..<count)
        guard (1...count).reduce(1, *) > orderLimit else { return permutations(of: all) }
        var random = SplitMix64(seed: UInt64(count))
        return (0..<orderLimit).map { _ in all.shuffled(using: &random) }
    }

    private static func permutations(of items: [Int]) -> [[Int]] {
        guard items.count > 1 else { return [items] }
        return items.indices.flatMap { index in
            var rest = items
            let item = rest.remove(at: index)
            return permutations(of: rest).map { [item] + $0 }
        }
    }
}
