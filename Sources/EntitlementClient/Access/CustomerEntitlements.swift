import Encodings
public import Entitlements
public import LedgerAPI

/// What a customer is entitled to, as far as this device knows.
///
/// A value: features with the stretches in which they are open, limits, tier and purchases. It is
/// asked with an instant, so that an end that passes while nobody is reached is seen (row Z16). It
/// holds no clock and no lock.
public struct CustomerEntitlements: Sendable, Hashable {
    /// Whose they are; nil: nobody is signed in.
    public let customer: CustomerID?
    /// The customer's tier at ``asOf``; `free` where nothing is known.
    public let tier: String
    /// What the customer owned at ``asOf``, by name.
    public let purchases: [PurchaseState]
    /// When the server made what is known; nil: it was never reached.
    public let asOf: Instant?
    /// When that is old; what it says holds until its stretches end all the same (row Z17).
    public let staleAt: Instant?
    /// The next instant at which the answer may change by itself (row Z15); nil: never.
    public let validUntil: Instant?
    /// How many events the server knew.
    public let sequence: UInt64
    /// Where it comes from.
    public internal(set) var source: EntitlementSource
    /// By the feature's id.
    let features: [Name: KnownFeature]
    /// The entity tag of the gate map that goes with it; nil: there is none.
    let gateTag: String?
    /// What the store verified and the server has not recorded yet.
    var provisional: [ProvisionalAccess] = []
    /// Uses that the answer may not have seen.
    var uses: [PendingUse] = []

    /// What is known of a feature.
    struct KnownFeature: Sendable, Hashable {
        /// When it is open, ascending.
        var stretches: [Interval]
        /// Why it was open at `asOf`; nil: in a word that this program does not know.
        var reason: AccessReason?
        /// What unlocked it at `asOf`, by name.
        var sources: [String]
        /// The limit at `asOf`; nil: there is none.
        var limit: UsageLimit?
    }

    /// Nothing is known: what is free by a gate map is open, and nothing else (rows B8, ES3).
    ///
    /// `customer`: nil: nobody is signed in.
    public init(unknown customer: CustomerID?) {
        self.init(customer, tier: Self.freeTier, source: .builtIn, features: [:])
    }

    init(
        _ customer: CustomerID?,
        tier: String,
        source: EntitlementSource,
        features: [Name: KnownFeature],
        purchases: [PurchaseState] = [],
        asOf: Instant? = nil,
        staleAt: Instant? = nil,
        validUntil: Instant? = nil,
        sequence: UInt64 = 0,
        gateTag: String? = nil
    ) {
        self.customer = customer
        self.tier = tier
        self.source = source
        self.features = features
        self.purchases = purchases
        self.asOf = asOf
        self.staleAt = staleAt
        self.validUntil = validUntil
        self.sequence = sequence
        self.gateTag = gateTag
    }

    /// The tier of whom nothing is known.
    private static let freeTier = "free"
}

/// Where an answer comes from.
public enum EntitlementSource: String, Sendable, CaseIterable {
    /// The server, in this run of the program.
    case server
    /// A signed snapshot that was kept.
    case snapshot
    /// A purchase that the store verified and the server has not recorded yet (row 3.4).
    case provisional
    /// The gate map, which says what is free.
    case builtIn = "built_in"
}

extension CustomerEntitlements {
    /// Whether the answer is old at an instant, or was never had: it is used, and says so (row Z17).
    public func isStale(at instant: Instant) -> Bool { staleAt.map { $0 <= instant } ?? true }

    /// The next instant behind another at which an answer of these entitlements may change without
    /// anything being told; nil: never.
    ///
    /// Cost: linear in what is known.
    public func nextChange(after instant: Instant) -> Instant? {
        var changes = [validUntil, staleAt] + provisional.map(\.until)
        for feature in features.values {
            // Behind the window's end comes the next one's, which nobody says (C5).
            changes.append(feature.limit(at: instant, behind: 0)?.resetsAt)
            for stretch in feature.stretches { changes += [stretch.start, stretch.end] }
        }
        return changes.lazy.compactMap { $0 }.filter { $0 > instant }.min()
    }

    /// Whether a store's transaction came behind it.
    ///
    /// Nothing is known, or a shorter period of its purchase was kept; what the server said in this run of the
    /// program counts instead.
    func isOlder(than transaction: StoreTransaction) -> Bool {
        guard asOf != nil else { return true }
        guard source != .server, let end = transaction.expiresAt else { return false }
        return purchase(of: transaction)?.expiresAt.map { $0 < end } ?? false
    }

    /// Whether a store's transaction is somebody else's: it names another customer, and the server does not say that
    /// its purchase is this one's all the same, as what was transferred is (C1).
    ///
    /// To a customer whose id is no UUID a token says nothing: it may be one that the app made for them.
    func isAnothers(_ transaction: StoreTransaction) -> Bool {
        guard let account = transaction.account.flatMap({ CustomerID(appAccountToken: $0.text) }),
            let own = customer.flatMap({ CustomerID(appAccountToken: $0.text) }), account != own
        else { return false }
        return purchase(of: transaction) == nil
    }

    /// Whether a transaction was refunded or revoked: what is said of its purchase is of that very period.
    func isTakenBack(_ transaction: StoreTransaction) -> Bool {
        guard let known = purchase(of: transaction), known.expiresAt == transaction.expiresAt
        else { return false }
        return known.status == .refunded || known.status == .revoked
    }

    /// What is known of the purchase that a transaction belongs to; nil: nothing.
    private func purchase(of transaction: StoreTransaction) -> PurchaseState? {
        let name = PurchaseName(store: Source.appStore, originalID: transaction.originalID)
        return purchases.first { $0.purchase.isSame(as: name.description) }
    }

    /// The instant by which stretches are asked: a clock that is behind the server's asks for the
    /// snapshot's own instant, since what was open there is not closed by that clock (row Z17).
    func instant(_ instant: Instant) -> Instant { asOf.map { max($0, instant) } ?? instant }
}

extension CustomerEntitlements.KnownFeature {
    /// The stretch that holds at an instant; nil: none.
    func stretch(at instant: Instant) -> Interval? { stretches.first { $0.contains(instant) } }

    /// The limit at an instant, behind so many uses: at its window's end all of it is left again.
    func limit(at instant: Instant, behind uses: Int) -> UsageLimit? {
        guard var limit else { return nil }
        if let end = limit.resetsAt, end <= instant {
            limit.remaining = limit.count
            limit.resetsAt = limit.period.flatMap { $0.end(behind: end, after: instant) }
        }
        // Fits: no more uses than wait in memory.
        limit.remaining = limit.remaining.map { max(0, $0 &- Int64(uses)) }
        return limit
    }
}
