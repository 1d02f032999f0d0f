/// A statement about a purchase as the revenue reports read it: what the fold reads, and the money.
package struct MoneyFact: Sendable, Hashable {
    /// The statement; its transaction tags compare within the purchase (P13).
    package var fact: Fact
    /// The recorded time (T3).
    package var recordedAt: Instant
    /// `priceMicros`: what was paid or given back for the whole transaction.
    package var priceMicros: Int64?
    /// `currencyCode`.
    package var currency: FactName?
    /// `quantity`.
    package var quantity: Int64?
    /// Whether `ownership` is `family_shared`.
    package var isFamilyShared = false

    /// Makes a statement; the rest is set by name.
    package init(_ fact: Fact, recordedAt: Instant) {
        self.fact = fact
        self.recordedAt = recordedAt
    }

    /// Whether statements of a kind say something of money, or whose it is.
    package static func reads(_ kind: EventKind) -> Bool {
        switch kind {
        case .purchaseCompleted, .purchaseRenewed, .purchaseLinked, .verificationPassed,
            .verificationFailed, .revocationRefunded, .revocationRevoked, .revocationReversed:
            true
        default: false
        }
    }

    /// A refund gives back; a revocation only where it says how much.
    var givesBack: Bool { fact.kind == .revocationRefunded || priceMicros != nil }
}

/// What one transaction brought in and gave back, at T.
struct Takings: Hashable {
    /// The newest statement of the transaction (P1).
    var statement: MoneyFact
    /// In the order of their time.
    var refunds: [Refund]

    /// Money given back, at T.
    struct Refund: Hashable {
        var time: Instant
        /// When it was put back; nil: it was not.
        var reversedAt: Instant?
        var micros: Int64
        var currency: FactName?
    }
}
