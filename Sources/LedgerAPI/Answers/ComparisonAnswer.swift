package import Entitlements

/// Whose entitlements are others by what a provider says, and why: `compare revenuecat` (row Z14).
package struct ComparisonAnswer: Described {
    /// T.
    package var at: Instant
    /// The environment that is compared.
    package var environment: StoreEnvironment
    /// Size of the prefix that this side was made from.
    package var sequence: UInt64
    /// Customers that were compared.
    package var customers: Int
    /// Those of them whose entitlements differ.
    package var differing: Int
    /// How many of those differ for what, by code; one may differ for several.
    package var reasons: [ReasonCount]
    /// The first of those that differ.
    package var differences: [ComparedCustomer]
    /// Customers of whom the provider did not tell all, and who are not compared.
    package var untold: Int
    /// The first of them, by why.
    package var faults: [ComparisonFault]

    /// Differences that are listed; `--output` has all of them.
    package static let differenceLimit = 1000
    /// Faults that are listed.
    package static let faultLimit = 100

    /// How many customers differ for a reason.
    package struct ReasonCount: Described {
        /// The reason.
        package var code: DifferenceReason.Code
        /// Who differs for it.
        package var customers: Int

        /// Its members, in the order in which they are written.
        package static let fields = Fields(
            "DifferenceReasonCount",
            "How many customers differ for a reason",
            Self.init
        ) {
            Field("code", \.code, .word)
            Field("customers", \.customers, .count)
        }
    }

    /// Makes an answer of nobody.
    package init(at: Instant, environment: StoreEnvironment, sequence: UInt64) {
        self.init(
            at: at,
            environment: environment,
            sequence: sequence,
            customers: 0,
            differing: 0,
            reasons: [],
            differences: [],
            untold: 0,
            faults: []
        )
    }

    private init(
        at: Instant,
        environment: StoreEnvironment,
        sequence: UInt64,
        customers: Int,
        differing: Int,
        reasons: [ReasonCount],
        differences: [ComparedCustomer],
        untold: Int,
        faults: [ComparisonFault]
    ) {
        self.at = at
        self.environment = environment
        self.sequence = sequence
        self.customers = customers
        self.differing = differing
        self.reasons = reasons
        self.differences = differences
        self.untold = untold
        self.faults = faults
    }

    /// Counts one who was compared; `difference`: nil: the entitlements are the same.
    package mutating func count(_ difference: ComparedCustomer?) {
        customers += 1
        guard let difference else { return }
        differing += 1
        if differences.count < Self.differenceLimit { differences.append(difference) }
        for code in Set(difference.reasons.map(\.code)) {
            if let index = reasons.firstIndex(where: { $0.code == code }) {
                reasons[index].customers += 1
            } else {
                reasons.append(ReasonCount(code: code, customers: 1))
            }
        }
        reasons.sort { $0.code.rawValue < $1.code.rawValue }
    }

    /// Counts one of whom the provider did not tell all.
    package mutating func count(_ fault: ComparisonFault) {
        untold += 1
        if faults.count < Self.faultLimit { faults.append(fault) }
    }

    /// Its members, in the order in which they are written.
    package static let fields = Fields(
        "Comparison",
        "Whose entitlements are others by what a provider says, and why",
        Self.init
    ) {
        Field("at", \.at, .instant)
        Field("environment", \.environment, .environment)
        Field("sequence", \.sequence, .count, "Size of the prefix that this side was made from")
        Field("customers", \.customers, .count, "Who was compared")
        Field("differing", \.differing, .count, "Whose entitlements differ")
        Field("reasons", \.reasons, .list(.object), "Of all that differ, by code")
        Field("differences", \.differences, .list(.object), "The first that differ")
        Field("untold", \.untold, .count, "Of whom the provider did not tell all")
        Field("faults", \.faults, .list(.object), "The first of them")
    }
}

/// One whose entitlements differ.
package struct ComparedCustomer: Described {
    /// By which name.
    package var customer: String
    /// What this ledger says.
    package var here: ComparedSide
    /// What the provider says.
    package var there: ComparedSide
    /// Why; never empty.
    package var reasons: [DifferenceReason]

    /// Names all of it.
    package init(
        customer: String,
        here: ComparedSide,
        there: ComparedSide,
        reasons: [DifferenceReason]
    ) {
        self.customer = customer
        self.here = here
        self.there = there
        self.reasons = reasons
    }

    /// Its members, in the order in which they are written.
    package static let fields = Fields(
        "ComparedCustomer",
        "One whose entitlements differ",
        Self.init
    ) {
        Field("customer", \.customer, .identifier)
        Field("here", \.here, .object)
        Field("there", \.there, .object)
        Field("reasons", \.reasons, .list(.object))
    }
}

/// What one side entitles a customer to, by the catalog that is in force here.
package struct ComparedSide: Described {
    /// The tier (K7).
    package var tier: String
    /// The features that are allowed (K5), by id.
    package var features: [String]

    /// What a state entitles to.
    package init(_ state: StateContent) {
        self.init(
            tier: state.tier,
            features: state.features.filter(\.value.isAllowed).map(\.name)
        )
    }

    private init(tier: String, features: [String]) {
        self.tier = tier
        self.features = features
    }

    /// Its members, in the order in which they are written.
    package static let fields = Fields(
        "ComparedSide",
        "What one side entitles a customer to",
        Self.init
    ) {
        Field("tier", \.tier, .name)
        Field("features", \.features, .list(.name), "Those that are allowed")
    }
}

/// A customer of whom a provider did not tell all.
package struct ComparisonFault: Described {
    /// Who.
    package var customer: String
    /// Why.
    package var code: SyncedPurchase.Code

    /// Makes one.
    package init(customer: String, code: SyncedPurchase.Code) {
        self.customer = customer
        self.code = code
    }

    /// Its members, in the order in which they are written.
    package static let fields = Fields(
        "ComparisonFault",
        "A customer of whom a provider did not tell all",
        Self.init
    ) {
        Field("customer", \.customer, .identifier)
        Field("code", \.code, .word)
    }
}
