import EntitlementLedger
import Entitlements
import LedgerAPI

/// One of two ledgers that are held against each other.
struct ComparisonSide: Sendable {
    let questions: Questions
    let environment: StoreEnvironment
    let instant: Instant

    /// What is said of a customer.
    func state(of customer: CustomerID) throws -> StateContent {
        try questions.show(
            CustomerQuestion(
                customer: customer,
                environment: environment,
                point: BitemporalPoint(at: instant, knownAt: .everything)
            )
        ).answer.state
    }

    /// All names of a customer, the given one first.
    func names(of customer: CustomerID) throws -> [CustomerID] {
        try questions.names(of: customer, in: environment)
    }

    /// One name of each customer whom names are those of, by what numbers them.
    func customers(named names: [CustomerID]) throws -> [(number: UInt64, name: CustomerID)] {
        var found: [(number: UInt64, name: CustomerID)] = []
        for name in names {
            guard let number = try questions.number(of: name, in: environment),
                !found.contains(where: { $0.number == number })
            else { continue }
            found.append((number, name))
        }
        return found
    }

    /// Why a purchase that a customer has on the other side is not among the customer's.
    enum Absence {
        /// Another name of the customer has it, which is another customer's here.
        case alias(CustomerID)
        /// Another customer has it.
        case owner
        /// It belongs to another environment.
        case sandbox
        /// Nothing is known of it.
        case missing
    }

    /// Why a purchase is not among those of a customer, who has these names on the other side.
    func absence(of purchase: String, fromThoseOf names: [CustomerID]) throws -> Absence {
        guard let purchase = PurchaseName(purchase) else { return .missing }
        let standing = try questions.standing(of: purchase, in: environment, at: instant)
        if let owner = standing?.owner {
            let same = try customers(named: names).first { $0.number == owner }
            return same.map { .alias($0.name) } ?? .owner
        }
        if standing != nil { return .owner }
        let others = StoreEnvironment.allCases.filter { $0 != environment }
        let isElsewhere = try others.contains {
            try questions.standing(of: purchase, in: $0, at: instant) != nil
        }
        return isElsewhere ? .sandbox : .missing
    }
}
