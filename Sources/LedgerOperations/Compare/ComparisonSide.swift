package import EntitlementLedger
package import Entitlements
package import LedgerAPI

/// One of two ledgers that are held against each other.
package struct ComparisonSide: ComparisonPlace {
    private let questions: Questions
    private let environment: StoreEnvironment
    private let instant: Instant

    /// Names a ledger that is open here.
    ///
    /// `instant`: T.
    package init(_ ledger: Ledger, in environment: StoreEnvironment, at instant: Instant) {
        questions = ledger.questions
        self.environment = environment
        self.instant = instant
    }

    /// See `ComparisonPlace`.
    package func ground(everybody: Bool) throws -> ComparisonGround {
        ComparisonGround(
            sequence: try questions.size(),
            catalogs: try questions.publishedCatalogs().map {
                ComparisonGround.Published(effective: $0.effective, document: $0.document)
            },
            customers: everybody ? try everybodyHere().map(\.text) : nil
        )
    }

    /// See `ComparisonPlace`; what is no name is nobody's.
    package func see(_ customers: [KnownElsewhere]) throws -> [SeenCustomer] {
        try customers.map { customer in
            let names = customer.names.compactMap { CustomerID($0) }
            let known = try self.customers(named: names).map(\.name)
            return SeenCustomer(
                accounts: try (known.isEmpty ? Array(names.prefix(1)) : known).map {
                    SeenCustomer.Account(
                        names: try self.names(of: $0).map(\.text),
                        state: try state(of: $0)
                    )
                },
                absences: try customer.purchases.map { try absence(of: $0, fromThoseOf: names) }
            )
        }
    }

    /// A name of each customer, by their text.
    func everybodyHere() throws -> [CustomerID] { try questions.customers(in: environment) }

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
    private func customers(
        named names: [CustomerID]
    ) throws -> [(number: UInt64, name: CustomerID)] {
        var found: [(number: UInt64, name: CustomerID)] = []
        for name in names {
            guard let number = try questions.number(of: name, in: environment),
                !found.contains(where: { $0.number == number })
            else { continue }
            found.append((number, name))
        }
        return found
    }

    /// Why a purchase is not among those of a customer, who has these names on the other side.
    func absence(
        of purchase: String,
        fromThoseOf names: [CustomerID]
    ) throws -> AbsentPurchase {
        guard let name = PurchaseName(purchase) else {
            return AbsentPurchase(purchase: purchase, reason: .missing)
        }
        let standing = try questions.standing(of: name, in: environment, at: instant)
        if let owner = standing?.owner,
            let same = try customers(named: names).first(where: { $0.number == owner })
        {
            return AbsentPurchase(purchase: purchase, reason: .alias, name: same.name.text)
        }
        if standing != nil { return AbsentPurchase(purchase: purchase, reason: .owner) }
        let isElsewhere = try StoreEnvironment.allCases.contains {
            try $0 != environment && questions.standing(of: name, in: $0, at: instant) != nil
        }
        return AbsentPurchase(purchase: purchase, reason: isElsewhere ? .sandbox : .missing)
    }
}
