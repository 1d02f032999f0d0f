import Encodings
public import Entitlements

/// Who gains and who loses by another catalog (row Z3): `whatif`.
///
/// The counts are exact; the lists hold as many entries as were asked for at most.
public struct WhatIfAnswer: Described {
    /// T.
    public var at: Instant
    /// R; nil: everything known, or a prefix by its size.
    public var known: Instant?
    /// Size of the prefix that was folded.
    public var sequence: UInt64
    /// The environment that was asked about.
    public var environment: StoreEnvironment
    /// From when on the other catalog stands in place of those in force.
    public var effective: Instant
    /// All customers of the environment.
    public var customers: UInt64
    /// Customers who gain a feature.
    public var gaining: UInt64
    /// Customers who lose one.
    public var losing: UInt64
    /// Features that somebody gains or loses, by id.
    public var features: [Feature]
    /// Products that somebody has who gains or loses, by store and id.
    public var products: [Product]
    /// Customers by the tiers that they move between.
    public var tiers: [Move]
    /// By customer and feature, with what unlocks it as supposed.
    public var gains: [WhatIfEntry]
    /// By customer and feature, with what unlocked it.
    public var losses: [WhatIfEntry]
    /// Whether the lists hold everything that was counted.
    public var isComplete: Bool

    /// How many gain and lose a feature.
    public struct Feature: Described {
        /// Its id.
        public var id: String
        /// Customers who gain it.
        public var gaining: UInt64
        /// Customers who lose it.
        public var losing: UInt64

        /// Makes a row.
        package init(id: String, gaining: UInt64, losing: UInt64) {
            self.id = id
            self.gaining = gaining
            self.losing = losing
        }

        /// Its members, in the order in which they are written.
        package static let fields = Fields(
            "WhatIfFeature",
            "How many gain and lose a feature",
            Self.init
        ) {
            Field("feature", \.id, .name)
            Field("gaining", \.gaining, .count)
            Field("losing", \.losing, .count)
        }
    }

    /// How many of those with a product gain and lose something.
    public struct Product: Described {
        /// Where it is sold.
        public var store: String
        /// Its id there.
        public var productID: String
        /// Customers who have access by it at T, as it is or as supposed.
        public var holders: UInt64
        /// Holders who gain a feature.
        public var gaining: UInt64
        /// Holders who lose a feature.
        public var losing: UInt64

        /// Makes a row.
        package init(
            store: String,
            productID: String,
            holders: UInt64,
            gaining: UInt64,
            losing: UInt64
        ) {
            self.store = store
            self.productID = productID
            self.holders = holders
            self.gaining = gaining
            self.losing = losing
        }

        /// Its members, in the order in which they are written.
        package static let fields = Fields(
            "WhatIfProduct",
            "How many of those with a product gain and lose something",
            Self.init
        ) {
            Field("store", \.store, .text(.common(.store)))
            Field("productId", \.productID, .name)
            Field(
                "holders",
                \.holders,
                .count,
                "Customers who have access by it at T, in either world"
            )
            Field("gaining", \.gaining, .count)
            Field("losing", \.losing, .count)
        }
    }

    /// How many move from one tier to another.
    public struct Move: Described {
        /// The tier in force.
        public var before: String
        /// The tier by the other catalog.
        public var after: String
        /// Who moves.
        public var customers: UInt64

        /// Makes a row.
        package init(before: String, after: String, customers: UInt64) {
            self.before = before
            self.after = after
            self.customers = customers
        }

        /// Its members, in the order in which they are written.
        package static let fields = Fields(
            "WhatIfMove",
            "How many move from one tier to another",
            Self.init
        ) {
            Field("before", \.before, .name)
            Field("after", \.after, .name)
            Field("customers", \.customers, .count)
        }
    }

    /// Makes an answer.
    package init(
        at: Instant,
        known: Instant?,
        sequence: UInt64,
        environment: StoreEnvironment,
        effective: Instant,
        customers: UInt64,
        gaining: UInt64,
        losing: UInt64,
        features: [Feature],
        products: [Product],
        tiers: [Move],
        gains: [WhatIfEntry],
        losses: [WhatIfEntry],
        isComplete: Bool
    ) {
        self.at = at
        self.known = known
        self.sequence = sequence
        self.environment = environment
        self.effective = effective
        self.customers = customers
        self.gaining = gaining
        self.losing = losing
        self.features = features
        self.products = products
        self.tiers = tiers
        self.gains = gains
        self.losses = losses
        self.isComplete = isComplete
    }

    /// Its members, in the order in which they are written.
    package static let fields = Fields(
        "WhatIf",
        "Who gains and who loses by another catalog",
        Self.init
    ) {
        Field("at", \.at, .instant)
        Field("known", \.known, .orNull(.instant))
        Field("sequence", \.sequence, .count, "Size of the prefix that was folded")
        Field("environment", \.environment, .environment)
        Field(
            "effective",
            \.effective,
            .instant,
            "From when on the other catalog stands in place of those in force"
        )
        Field("customers", \.customers, .count, "All of the environment")
        Field("gaining", \.gaining, .count, "Customers who gain a feature")
        Field("losing", \.losing, .count, "Customers who lose one")
        Field(
            "features",
            \.features,
            .list(.object),
            "Features that somebody gains or loses"
        )
        Field(
            "products",
            \.products,
            .list(.object),
            "Products that somebody has who gains or loses"
        )
        Field("tiers", \.tiers, .list(.object), "Customers by the tiers that they move between")
        Field("gains", \.gains, .list(.object), "With what unlocks it in the other world")
        Field("losses", \.losses, .list(.object), "With what unlocked it")
        Field(
            "isComplete",
            \.isComplete,
            .boolean,
            "Whether the lists hold everything that was counted"
        )
    }
}

/// A feature that a customer gains or loses.
public struct WhatIfEntry: Described {
    /// Who; `erased/NUMBER` where the name is gone (C6).
    public var customer: String
    /// Which feature, by its id.
    public var feature: String
    /// Why it is open on the side on which it is.
    public var reason: AccessReason
    /// What opens it there, by name.
    public var sources: [String]

    /// Makes an entry.
    package init(customer: String, feature: String, reason: AccessReason, sources: [String]) {
        self.customer = customer
        self.feature = feature
        self.reason = reason
        self.sources = sources
    }

    /// Its members, in the order in which they are written.
    package static let fields = Fields(
        "WhatIfEntry",
        "A feature that a customer gains or loses",
        Self.init
    ) {
        Field("customer", \.customer, .identifier)
        Field("feature", \.feature, .name)
        Field("reason", \.reason, .word)
        Field("sources", \.sources, .list(.text))
    }
}

/// One gain or loss, as a line of a file: `whatif --output`.
public struct WhatIfLine: Described {
    /// Which of both.
    public var change: Change
    /// Whose, and what.
    public var entry: WhatIfEntry

    /// What becomes of the feature.
    public enum Change: String, Sendable, CaseIterable { case gain, loss }

    /// Makes a line.
    package init(_ change: Change, _ entry: WhatIfEntry) {
        self.change = change
        self.entry = entry
    }

    /// Its members, in the order in which they are written: those of the entry, and the change.
    package static let fields = Fields(
        "WhatIfLine",
        "One gain or loss",
        { customer, change, feature, reason, sources in
            Self(
                change,
                WhatIfEntry(
                    customer: customer,
                    feature: feature,
                    reason: reason,
                    sources: sources
                )
            )
        }
    ) {
        Field("customer", \.entry.customer, .identifier)
        Field("change", \.change, .word)
        Field("feature", \.entry.feature, .name)
        Field("reason", \.entry.reason, .word)
        Field("sources", \.entry.sources, .list(.text))
    }
}
