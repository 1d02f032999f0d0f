package import Entitlements

/// What the stores were asked about a customer's purchases, and what came of it: `sync`.
package struct SyncAnswer: Described {
    /// The customer, as they were named.
    package var customer: String
    /// The environment that was asked about.
    package var environment: StoreEnvironment
    /// When asking began.
    package var at: Instant
    /// The log's size behind it.
    package var sequence: UInt64
    /// What the customer owns, and what else their stores told of, by name.
    package var purchases: [SyncedPurchase]

    /// Who did not tell all of the customer as such: RevenueCat, which is asked by customers.
    package var faults: [SyncFault]

    /// Makes an answer.
    package init(
        customer: String,
        environment: StoreEnvironment,
        at: Instant,
        sequence: UInt64,
        purchases: [SyncedPurchase],
        faults: [SyncFault]
    ) {
        self.customer = customer
        self.environment = environment
        self.at = at
        self.sequence = sequence
        self.purchases = purchases
        self.faults = faults
    }

    /// Whether each purchase whose store can be asked was fetched whole.
    package var isWhole: Bool {
        faults.isEmpty && purchases.allSatisfy { $0.outcome != .failed }
    }

    /// Whether to ask again: a store did not tell all that it knows.
    package var isToAskAgain: Bool { !faults.isEmpty || purchases.contains(where: \.isToAskAgain) }

    /// Its members, in the order in which they are written; the sums follow from the purchases.
    package static let fields = Fields(
        "Sync",
        "What the stores told of a customer's purchases",
        { customer, environment, at, sequence, _, _, purchases, faults in
            Self(
                customer: customer,
                environment: environment,
                at: at,
                sequence: sequence,
                purchases: purchases,
                faults: faults
            )
        }
    ) {
        Field("customer", \.customer, .identifier)
        Field("environment", \.environment, .environment)
        Field("at", \.at, .instant, "When asking began")
        Field("sequence", \.sequence, .count, "The log's size behind it")
        Field("found", { $0.purchases.reduce(0) { $0 + $1.found } }, .count, "Facts that were told")
        Field(
            "appended",
            { $0.purchases.reduce(0) { $0 + $1.appended } },
            .count,
            "Events that were missing"
        )
        Field("purchases", \.purchases, .list(.object))
        Field("faults", \.faults, .list(.object), "Who did not tell all of the customer as such")
    }
}

/// That a store which is asked by customers did not tell all.
package struct SyncFault: Described {
    /// The store.
    package var store: String
    /// Why.
    package var code: SyncedPurchase.Code

    /// Makes one.
    package init(store: String, code: SyncedPurchase.Code) {
        self.store = store
        self.code = code
    }

    /// Its members, in the order in which they are written.
    package static let fields = Fields(
        "SyncFault",
        "That a store did not tell all of a customer",
        Self.init
    ) {
        Field("store", \.store, .text(.common(.store)))
        Field("code", \.code, .word)
    }
}

/// What a store told of a purchase.
package struct SyncedPurchase: Described {
    /// `STORE/ORIGINAL_ID`.
    package var purchase: String
    /// What came of asking.
    package var outcome: Outcome
    /// Transactions, states and renewals that were told.
    package var found: Int
    /// Events of them that were missing.
    package var appended: Int
    /// Members of the purchase that are others now, in `show`'s words.
    package var differences: [String]
    /// Why it was not fetched whole; nil: it was.
    package var code: Code?

    /// What may come of asking.
    package enum Outcome: String, Sendable, CaseIterable {
        /// Nothing was missing.
        case completed
        /// Something was, and is appended.
        case reconciled
        /// The store did not tell all; what it told counts.
        case failed
        /// The store is not configured to be asked, or cannot be asked by what is known.
        case notAsked = "not_asked"
    }

    /// Why a purchase was not fetched whole.
    package enum Code: String, Sendable, CaseIterable {
        /// No whole answer, or one that the store is at fault for.
        case unavailable
        /// The store was asked too often.
        case rateLimited = "rate_limited"
        /// The store failed often of late, and is left alone for a while.
        case resting
        /// The store knows nothing of the purchase, or no more.
        case notFound = "not_found"
        /// The store does not let us ask: the key, or its rights.
        case notPermitted = "not_permitted"
        /// The store does not understand what was asked.
        case rejected
        /// The answer is not what the store answers with.
        case malformed
        /// The store's API is not configured.
        case notConfigured = "not_configured"

        /// Whether the store wants no more questions for now, whatever they are about.
        package var holdsUpAll: Bool { self == .rateLimited || self == .resting }
    }

    /// Makes one.
    package init(
        purchase: String,
        outcome: Outcome,
        found: Int = 0,
        appended: Int = 0,
        differences: [String] = [],
        code: Code? = nil
    ) {
        self.purchase = purchase
        self.outcome = outcome
        self.found = found
        self.appended = appended
        self.differences = differences
        self.code = code
    }

    /// Whether its store did not tell all that it knows; one that knows nothing of it, or no more, would say
    /// the same again.
    package var isToAskAgain: Bool { outcome == .failed && code != .notFound }

    /// Its members, in the order in which they are written.
    package static let fields = Fields(
        "SyncedPurchase",
        "What a store told of a purchase",
        Self.init
    ) {
        Field("purchase", \.purchase, .source)
        Field("outcome", \.outcome, .word)
        Field("found", \.found, .count)
        Field("appended", \.appended, .count)
        Field(
            "differences",
            \.differences,
            .list(.text),
            "Members of the purchase that are others now"
        )
        Field("code", \.code, .orAbsent(.word), "failed, not_asked: the reason")
    }
}
