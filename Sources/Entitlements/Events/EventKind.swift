import Encodings

/// The kinds of event (Model, "Events").
///
/// The raw value stands in records: it is never reused.
public enum EventKind: UInt8, CaseIterable, Sendable {
    case purchaseCompleted = 1
    case purchaseRenewed = 2
    case purchaseExtended = 3
    case purchaseGraceStarted = 4
    case purchaseRetryStarted = 5
    case purchaseExpired = 6
    case purchasePaused = 7
    case purchaseResumed = 8
    case purchaseRenewalChanged = 9
    case purchasePending = 10
    case purchaseAbandoned = 11
    case purchaseLinked = 12
    case purchaseAcknowledged = 13
    case verificationPassed = 14
    case verificationFailed = 15
    case revocationRefunded = 16
    case revocationRevoked = 17
    case revocationReversed = 18
    case syncCompleted = 19
    case syncReconciled = 20
    case customerClaimed = 21
    case customerReleased = 22
    case customerLinked = 23
    case customerTransferred = 24
    case customerErased = 25
    case grantGiven = 26
    case grantWithdrawn = 27
    case trialStarted = 28
    case usageRecorded = 29
    case usageReversed = 30
    case flowStarted = 31
    case flowSucceeded = 32
    case flowFailed = 33
    case flowCancelled = 34
    case flowPending = 35
    case flowRestored = 36
    case signalNoted = 37
    case failureRecorded = 38
    case accessLogged = 39
    case catalogPublished = 40

    /// Whether only the ledger itself records it (C6).
    package var isLedgerOnly: Bool { self == .customerErased }

    /// The `type` in JSON.
    public var name: String { Self.names.words[Int(rawValue) - 1] }

    /// The kind of that `type`.
    public init?(name: String) {
        guard let index = Self.names.index(of: name) else { return nil }
        self.init(rawValue: UInt8(index + 1))
    }

    /// The kind of the `type` that stands in a text.
    init?(_ node: Int, of text: JSONText) {
        guard let index = text.index(node, in: Self.names) else { return nil }
        self.init(rawValue: UInt8(index + 1))
    }

    /// Names in the order of the raw values.
    private static let names = WordList([
        "purchase.completed", "purchase.renewed", "purchase.extended", "purchase.grace_started",
        "purchase.retry_started", "purchase.expired", "purchase.paused", "purchase.resumed",
        "purchase.renewal_changed", "purchase.pending", "purchase.abandoned", "purchase.linked",
        "purchase.acknowledged", "verification.passed", "verification.failed",
        "revocation.refunded", "revocation.revoked", "revocation.reversed", "sync.completed",
        "sync.reconciled", "customer.claimed", "customer.released", "customer.linked",
        "customer.transferred", "customer.erased", "grant.given", "grant.withdrawn",
        "trial.started", "usage.recorded", "usage.reversed", "flow.started", "flow.succeeded",
        "flow.failed", "flow.cancelled", "flow.pending", "flow.restored", "signal.noted",
        "failure.recorded", "access.logged", "catalog.published",
    ])
}
