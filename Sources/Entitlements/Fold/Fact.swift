/// An event as the fold reads it: ids are numbers that only compare, names stay outside.
///
/// Numbers of subjects are stream numbers; numbers of transactions, grants and uses are tags that
/// compare within one purchase or customer (after P13 and C2).
public struct Fact: Sendable, Hashable {
    /// Place in the log.
    public var sequence: UInt64
    /// What it says.
    public var kind: EventKind
    /// T1.
    public var time: Instant
    /// T2.
    public var observedAt: Instant
    /// The purchase, customer or store that it is about.
    public var subject: UInt64
    /// The other subject that it names: `purchase` of a claim, `alias` of a link.
    public var other: UInt64?
    /// The customers that a transfer takes from.
    public var from: [UInt64] = []
    /// `transactionId`.
    public var transaction: UInt64?
    /// `grantId` or `useId`.
    public var item: UInt64?
    /// `expiresAt` or `graceUntil`.
    public var end: Instant?
    /// `productId`, `trialId` or `featureId`.
    public var label: String?
    /// `nextProductId`.
    public var nextProductID: String?
    /// `productKind`.
    public var productKind: ProductKind?
    /// `autoRenew`.
    public var autoRenew: Bool?
    /// `features` of a grant.
    public var features: [String] = []
    /// `tier` of a grant.
    public var tier: String?
    /// The store in the subject's name, for events about a purchase (K9).
    public var store: String?

    /// Makes a fact; the rest is set by name.
    public init(
        sequence: UInt64,
        kind: EventKind,
        time: Instant,
        observedAt: Instant,
        subject: UInt64
    ) {
        self.sequence = sequence
        self.kind = kind
        self.time = time
        self.observedAt = observedAt
        self.subject = subject
    }

    /// T2: whether this statement is newer than another.
    func isNewer(than other: Fact) -> Bool {
        (observedAt, sequence) > (other.observedAt, other.sequence)
    }

    /// The order of effective time, ties by sequence.
    static func inTime(_ left: Fact, _ right: Fact) -> Bool {
        (left.time, left.sequence) < (right.time, right.sequence)
    }
}

extension Sequence<Fact> {
    /// The newest of these statements (T2).
    func newest() -> Fact? {
        self.max { $1.isNewer(than: $0) }
    }
}
