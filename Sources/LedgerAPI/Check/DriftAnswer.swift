import Encodings
public import Entitlements

/// What a drift check found (row Z13): `drift`.
public struct DriftAnswer: Described {
    /// Whether nothing differs.
    public var isOK: Bool
    /// Size of the prefix that was folded.
    public var sequence: UInt64
    /// The environment that was looked at.
    public var environment: StoreEnvironment
    /// Customers who were folded again.
    public var customers: Int
    /// Streams that may be customers, whether sampled or not.
    public var population: Int
    /// Customers whose kept answers were compared.
    public var cached: Int
    /// Where answers are others than the log's.
    public var differences: [DriftDifference]

    /// Makes an answer.
    package init(
        isOK: Bool,
        sequence: UInt64,
        environment: StoreEnvironment,
        customers: Int,
        population: Int,
        cached: Int,
        differences: [DriftDifference]
    ) {
        self.isOK = isOK
        self.sequence = sequence
        self.environment = environment
        self.customers = customers
        self.population = population
        self.cached = cached
        self.differences = differences
    }

    /// Its members, in the order in which they are written.
    package static let fields = Fields("Drift", "What a drift check found", Self.init) {
        Field("ok", \.isOK, .boolean)
        Field("sequence", \.sequence, .count, "Size of the prefix that was folded")
        Field("environment", \.environment, .environment)
        Field("customers", \.customers, .count, "Customers who were folded again")
        Field(
            "population",
            \.population,
            .count,
            "Streams that may be customers, whether sampled or not"
        )
        Field(
            "standing",
            \.cached,
            .count,
            "Customers whose kept answers were compared; only a server keeps some"
        )
        Field("differences", \.differences, .list(.object))
    }
}

/// One customer of whom a view says other than the log.
public struct DriftDifference: Described {
    /// Which view.
    public var kind: Kind
    /// The customer's number in the log.
    public var stream: UInt64
    /// A sentence; names nobody.
    public var detail: String

    /// What answers questions beside the log.
    public enum Kind: String, Sendable, CaseIterable {
        /// The index of streams.
        case view
        /// What customers may use now, folded before and kept.
        case cache = "standing"
    }

    /// Makes a difference.
    package init(kind: Kind, stream: UInt64, detail: String) {
        self.kind = kind
        self.stream = stream
        self.detail = detail
    }

    /// Its members, in the order in which they are written.
    package static let fields = Fields("DriftDifference", "What differs", Self.init) {
        Field("kind", \.kind, .word)
        Field("stream", \.stream, .count, "The customer's number in the log")
        Field("detail", \.detail, .text)
    }
}
