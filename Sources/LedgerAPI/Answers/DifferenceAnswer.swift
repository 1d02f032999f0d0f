public import Entitlements

/// What changed for a customer between two points: `diff`.
public struct DifferenceAnswer: Described {
    /// Any of the customer's names.
    public var customer: String
    /// The environment that was asked about.
    public var environment: StoreEnvironment
    /// What is compared with.
    public var from: ComparedPoint
    /// What is compared.
    public var to: ComparedPoint
    /// What differs.
    public var difference: StateDifference
    /// Publications that became known, or in force, in between.
    public var catalogs: [PublishedCatalog]
    /// The customer's events that became known in between, or took effect.
    public var events: [ListedEvent]

    /// Makes an answer.
    package init(
        customer: String,
        environment: StoreEnvironment,
        from: ComparedPoint,
        to: ComparedPoint,
        difference: StateDifference,
        catalogs: [PublishedCatalog],
        events: [ListedEvent]
    ) {
        self.customer = customer
        self.environment = environment
        self.from = from
        self.to = to
        self.difference = difference
        self.catalogs = catalogs
        self.events = events
    }

    /// Its members, in the order in which they are written.
    package static let fields = Fields(
        "Difference",
        "What differs between two points",
        Self.init
    ) {
        Field("customer", \.customer, .identifier)
        Field("environment", \.environment, .environment)
        Field("from", \.from, .object)
        Field("to", \.to, .object)
        Field(inline: \.difference)
        Field(
            "catalogs",
            \.catalogs,
            .list(.object),
            "Publications that became known or in force in between"
        )
        Field(
            "events",
            \.events,
            .list(.event),
            "The customer's events that became known in between, or took effect"
        )
    }
}

/// One side of a comparison.
public struct ComparedPoint: Described {
    /// The effective instant that is asked about (T).
    public var at: Instant
    /// R, where it was given as an instant.
    public var known: Instant?
    /// Size of the prefix that this side was made from.
    public var sequence: UInt64

    /// A point with the size of the prefix that it names.
    package init(at: Instant, known: Instant?, sequence: UInt64) {
        self.at = at
        self.known = known
        self.sequence = sequence
    }

    /// Its members, in the order in which they are written.
    package static let fields = Fields("ComparedPoint", "One side of a comparison", Self.init) {
        Field("at", \.at, .instant).echoed
        Field("known", \.known, .orNull(.instant))
        Field(
            "sequence",
            \.sequence,
            .count,
            "Size of the prefix that this side was made from"
        ).echoed
    }
}

/// A publication of a catalog.
public struct PublishedCatalog: Described {
    /// The place of its event in the log.
    public var sequence: UInt64
    /// When it takes effect.
    public var time: Instant

    /// A publication.
    package init(sequence: UInt64, time: Instant) {
        self.sequence = sequence
        self.time = time
    }

    /// Its members, in the order in which they are written.
    package static let fields = Fields("Publication", "A published catalog", Self.init) {
        Field("sequence", \.sequence, .count)
        Field("time", \.time, .instant)
    }
}
