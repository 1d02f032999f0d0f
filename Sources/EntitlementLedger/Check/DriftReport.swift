package import Entitlements
public import LedgerAPI

/// What a drift check found (row Z13), and where the next one begins.
public struct DriftReport: Sendable {
    /// The environment that was looked at.
    package var environment: StoreEnvironment
    /// Size of the prefix that was folded.
    package var size: UInt64
    /// Customers who were folded again.
    package var customers = 0
    /// Streams that may be customers, whether sampled or not.
    package var population = 0
    /// Customers whose kept answers were compared.
    package var cached = 0
    /// Where live views answer otherwise than the log; at most `differenceLimit`.
    package var differences: [DriftDifference] = []
    /// Where the next sample begins.
    package var next: UInt64 = 0

    /// Differences that are told one by one.
    package static let differenceLimit = 1000

    /// Whether nothing differs.
    package var isOK: Bool { differences.isEmpty }

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
