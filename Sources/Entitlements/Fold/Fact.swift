/// An event as the fold reads it: ids are numbers that only compare, names stay outside.
///
/// Numbers of subjects are stream numbers; numbers of transactions, grants and uses are tags that
/// compare within one purchase or customer (after P13 and C2). Plain bytes: copying one counts no
/// references.
package struct Fact: Sendable, Hashable {
    /// Place in the log.
    package var sequence: UInt64
    /// The effective time (T1).
    package var time: Instant
    /// The observed time (T2).
    package var observedAt: Instant
    /// The purchase, customer or store that it is about.
    package var subject: UInt64
    /// The other subject that it names: `purchase` of a claim, `alias` of a link, `account` of a
    /// period, one of `from`: a transfer from several customers is as many facts.
    package var other: UInt64?
    /// `transactionId`.
    package var transaction: UInt64?
    /// `grantId` or `useId`.
    package var item: UInt64?
    /// `expiresAt` or `graceUntil`.
    package var end: Instant?
    /// `productId`, `trialId` or `featureId`.
    package var label: FactName?
    /// `nextProductId`.
    package var nextProductID: FactName?
    /// `features` of a grant: a list.
    package var features: FactName?
    /// `tier` of a grant.
    package var tier: FactName?
    /// The store in the subject's name, for events about a purchase (K9).
    package var store: FactName?
    /// What it says.
    package var kind: EventKind
    /// `productKind`.
    package var productKind: ProductKind?
    /// `autoRenew`.
    package var autoRenew: Bool?
    /// Whether it was recorded more than a day after it was observed (Stores, rule 7).
    package var isLate = false
    /// `method`.
    package var method: VerificationMethod?

    /// Milliseconds between T2 and T3 after which a refund or an erasure may lie between.
    package static let lateness = Instant.millisecondsPerDay

    /// Whether something was recorded more than that after it was said, whatever a damaged record says of
    /// either.
    package static func isLate(saidAt: Instant, recordedAt: Instant) -> Bool {
        let delay = recordedAt.milliseconds.subtractingReportingOverflow(saidAt.milliseconds)
        return delay.overflow ? saidAt < recordedAt : delay.partialValue > lateness
    }

    /// Makes a fact; the rest is set by name.
    package init(
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

    /// Whom the store names for a period's transaction (C1).
    var account: UInt64? { kind.givesPeriod ? other : nil }

    /// The event as one statement among others.
    var statement: Statement {
        Statement(sequence: sequence, observedAt: observedAt, kind: kind)
    }

    /// T2: whether this statement is newer than another.
    package func isNewer(than other: Fact) -> Bool { statement.isNewer(than: other.statement) }

    /// The order of effective time, ties by sequence.
    static func inTime(_ left: Fact, _ right: Fact) -> Bool {
        (left.time, left.sequence) < (right.time, right.sequence)
    }
}

/// What is kept of an event that decides something.
package struct Statement: Sendable, Hashable {
    /// Its place in the log.
    package var sequence: UInt64
    /// The observed time (T2).
    package var observedAt: Instant
    /// What it says.
    package var kind: EventKind

    /// Whether the source said this later; of two at once, the one behind in the log (T2).
    func isNewer(than other: Statement) -> Bool {
        (observedAt, sequence) > (other.observedAt, other.sequence)
    }
}

extension EventKind {
    /// Whether such an event says what a transaction gives (P1).
    package var givesPeriod: Bool { self == .purchaseCompleted || self == .purchaseRenewed }

    /// Whether the fold reads events of this kind; what it passes over is kept for people.
    package var isFolded: Bool {
        switch self {
        case .accessLogged, .catalogPublished, .flowStarted, .flowSucceeded,
            .flowFailed, .flowCancelled, .flowPending, .flowRestored:
            false
        default: true
        }
    }
}

extension Sequence<Fact> {
    /// The newest of these statements (T2).
    package func newest() -> Fact? {
        self.max { $1.isNewer(than: $0) }
    }
}
