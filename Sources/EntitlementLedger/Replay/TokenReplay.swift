public import Encodings
import Entitlements

/// What decision tokens came to, held against the log (row Z11).
public struct TokenReplay: Sendable, Hashable {
    /// What one token came to.
    public enum Outcome: String, CaseIterable, Sendable {
        /// The log gives the same answer, byte for byte.
        case same
        /// It gives another.
        case differs
        /// The customer's name is gone: nobody can ask again.
        case erased
        /// It is of another ledger: the log is shorter, or names no customer where it points.
        case otherLedger = "other_ledger"
        /// It was given by other rules, and comes out otherwise by these.
        case otherRules = "other_rules"
        /// It names nobody: who is meant must be said.
        case customerMissing = "customer_missing"
        /// It is about another customer than was said.
        case otherCustomer = "other_customer"
        /// It is no token, or one of a newer version.
        case malformed

        /// Whether the log contradicts the token, or the token is none of its own.
        public var isFault: Bool {
            switch self {
            case .differs, .otherLedger, .otherCustomer, .malformed: true
            case .same, .erased, .otherRules, .customerMissing: false
            }
        }
    }

    /// A token that did not come out the same.
    public struct Other: Sendable, Hashable {
        /// Its place among those given, from 1.
        public var number: Int
        /// What it came to.
        public var outcome: Outcome
    }

    /// How many came to what.
    public private(set) var counts: [Outcome: Int] = [:]
    /// Those that did not come out the same; at most `listLimit`.
    public private(set) var others: [Other] = []

    /// More are counted, not listed.
    static let listLimit = 1000

    /// Begins with none.
    public init() {}

    /// Whether none is a fault.
    public var isOK: Bool { !counts.contains { $0.key.isFault && $0.value > 0 } }

    mutating func add(_ outcome: Outcome) {
        counts[outcome, default: 0] += 1
        guard outcome != .same, others.count < Self.listLimit else { return }
        others.append(Other(number: counts.values.reduce(0, +), outcome: outcome))
    }

    /// Each outcome with its count, then those that are not the same.
    public var json: JSONValue {
        .object(
            Outcome.allCases.map { JSONMember($0.rawValue, .integer(counts[$0] ?? 0)) } + [
                JSONMember(
                    "others",
                    .array(
                        others.map {
                            .members([
                                "number": .integer($0.number),
                                "outcome": .string($0.outcome.rawValue),
                            ])
                        }
                    )
                )
            ]
        )
    }
}
