public import Encodings
public import Entitlements

/// What a drift check found (row Z13): the `drift` shape.
public struct DriftReport: Sendable {
    /// The world that was looked at.
    public var environment: StoreEnvironment
    /// Size of the prefix that was folded.
    public var size: UInt64
    /// Customers who were folded again.
    public var customers = 0
    /// Streams that may be customers, whether sampled or not.
    public var population = 0
    /// Customers whose kept answers were compared.
    public var cached = 0
    /// Where live views answer otherwise than the log; at most `differenceLimit`.
    public var differences: [Difference] = []
    /// Where the next sample begins.
    public var next: UInt64 = 0

    /// Differences that are told one by one.
    public static let differenceLimit = 1000

    /// One customer of whom a view says other than the log.
    public struct Difference: Sendable, Hashable {
        /// Which view.
        public var kind: Kind
        /// The customer's number in the log.
        public var stream: UInt64
        /// A sentence; names nobody.
        public var detail: String
    }

    /// What answers questions beside the log.
    public enum Kind: String, Sendable, CaseIterable {
        /// The index of streams.
        case view
        /// What customers may use now, folded before and kept.
        case cache = "standing"
    }

    /// Whether nothing differs.
    public var isOK: Bool { differences.isEmpty }

    /// Adds what another core found.
    mutating func merge(_ other: DriftReport) {
        customers += other.customers
        cached += other.cached
        differences = Array(
            (differences + other.differences)
                .sorted { ($0.stream, $0.kind.rawValue) < ($1.stream, $1.kind.rawValue) }
                .prefix(Self.differenceLimit)
        )
    }

    mutating func note(_ kind: Kind, _ stream: UInt64, _ detail: String) {
        guard differences.count < Self.differenceLimit else { return }
        differences.append(Difference(kind: kind, stream: stream, detail: detail))
    }

    /// The shape.
    public var json: JSONValue {
        .members([
            "ok": .bool(isOK), "sequence": .integer(size),
            "environment": .string(environment.name), "customers": .integer(customers),
            "population": .integer(population), "standing": .integer(cached),
            "differences": .array(
                differences.map {
                    .members([
                        "kind": .string($0.kind.rawValue), "stream": .integer($0.stream),
                        "detail": .string($0.detail),
                    ])
                }
            ),
        ])
    }
}
