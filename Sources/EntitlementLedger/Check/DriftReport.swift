public import Entitlements
public import LedgerAPI

/// What a drift check found (row Z13), and where the next one begins.
public struct DriftReport: Sendable {
    /// The environment that was looked at.
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
    public var differences: [DriftDifference] = []
    /// Where the next sample begins.
    public var next: UInt64 = 0

    /// Differences that are told one by one.
    public static let differenceLimit = 1000

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

    mutating func note(_ kind: DriftDifference.Kind, _ stream: UInt64, _ detail: String) {
        guard differences.count < Self.differenceLimit else { return }
        differences.append(DriftDifference(kind: kind, stream: stream, detail: detail))
    }

    /// The answer.
    public var answer: DriftAnswer {
        DriftAnswer(
            isOK: isOK,
            sequence: size,
            environment: environment,
            customers: customers,
            population: population,
            cached: cached,
            differences: differences
        )
    }
}
