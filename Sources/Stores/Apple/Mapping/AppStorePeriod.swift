import Entitlements

/// What a verified transaction says: a period of a purchase, with all that decides on access.
///
/// Everything is read at once, so that one absurd date makes the whole message a note
/// (Stores, rule 6), whichever type it has.
struct AppStorePeriod: Hashable, Sendable {
    let purchase: PurchaseName
    let transactionID: String
    let productID: String
    let kind: ProductKind
    let start: Instant
    /// Nil: without end.
    let end: Instant?
    let revokedAt: Instant?
    private let content: AppStoreTransaction

    /// Reads the transaction.
    ///
    /// - Throws: `InputFault` if it lacks what a period needs, or a date is absurd.
    init(_ transaction: VerifiedAppStoreTransaction) throws(InputFault) {
        content = transaction.content
        purchase = try Self.required(transaction.purchase, "originalTransactionId")
        transactionID = try Self.required(content.transactionID, "transactionId")
        productID = try Self.required(content.productID, "productId")
        kind = try Self.required(Self.kinds[content.type ?? ""], "type")
        start = try Self.required(content.payload.instant("purchaseDate"), "purchaseDate")
        revokedAt = try content.payload.instant("revocationDate")
        switch content.payload.date("expiresDate") {
        case .at(let instant): end = instant
        case .afterAll: end = nil
        // Without end by an omission would be access for ever.
        case .unstated where kind != .autoRenewable: end = nil
        case .unstated, .absurd: throw InputFault(unusable: "expiresDate is missing or not a date")
        }
    }

    private static let kinds: [String: ProductKind] = [
        "Auto-Renewable Subscription": .autoRenewable, "Non-Consumable": .nonConsumable,
        "Consumable": .consumable, "Non-Renewing Subscription": .nonRenewing,
    ]

    /// When the App Store signed this transaction.
    var signedAt: Instant { content.signedAt }

    /// The period, the verdict that it needs to give access (P7), and its revocation if the
    /// transaction holds one.
    ///
    /// Each transaction says all of it anew, so any message may be the first that we hear. The
    /// kind of revocation is what the message's type says, else what the transaction shows.
    ///
    /// `isSaidWeakly`: whether whatever was told of the period counts instead, its end above all.
    func drafts(revokedBy kind: EventKind? = nil, isSaidWeakly: Bool = false) -> [EventDraft] {
        var period = draft(statement, at: start)
        if isSaidWeakly { period.observedAt = start.saidWeakly(until: end ?? start) }
        var drafts = [period, draft(verdict, at: start)]
        if content.isUpgraded { drafts.append(draft(upgrade, at: signedAt)) }
        guard let revokedAt else { return drafts }
        let shown = isOfFamily ? EventKind.revocationRevoked : .revocationRefunded
        return drafts + [draft(revocation(kind ?? shown), at: revokedAt)]
    }

    /// Whether some of the items that were sold as one stand, whatever was given back of the others
    /// (developer.apple.com/documentation/appstoreserverapi/advancedcommercetransactionitem).
    var hasStandingItems: Bool {
        guard revokedAt == nil else { return false }
        let sold = PayloadObject(json: content.json).object("advancedCommerceInfo")
        return sold?.objects("items").contains { $0["revocationDate"] == nil } ?? false
    }

    /// A statement about this period, said when the transaction was signed unless later.
    func draft(_ data: EventData, at time: Instant, saidAt: Instant? = nil) -> EventDraft {
        EventDraft(
            subject: .purchase(purchase),
            time: time,
            observedAt: max(signedAt, saidAt ?? signedAt),
            data: data
        )
    }

    /// What takes this period away: that alone, never what else the purchase gives.
    func revocation(_ kind: EventKind) -> EventData {
        let price = AppStorePrice(givenBackBy: content)
        return EventData(
            kind,
            [
                .transactionID: .text(transactionID),
                .reason: Self.reason(content).map { .text($0) },
                .priceMicros: price.map { .integer($0.micros) },
                .currencyCode: price.map { .text($0.currencyCode) },
            ]
        )
    }

    private var statement: EventData {
        let price = AppStorePrice(of: content)
        let quantity = content.payload.integer("quantity").flatMap {
            FieldShape.quantities.contains($0) ? $0 : nil
        }
        return EventData(
            isRenewal ? .purchaseRenewed : .purchaseCompleted,
            [
                .transactionID: .text(transactionID), .productID: .text(productID),
                .productKind: .text(kind.name), .expiresAt: end.map { .instant($0) },
                .priceMicros: price.map { .integer($0.micros) },
                .currencyCode: price.map { .text($0.currencyCode) },
                .quantity: quantity.map { .integer($0) },
                .ownership: ownership.map { .text($0) },
                .offer: Self.offer(content).map { .text($0) },
                .storefront: content.payload.code("storefront").map { .text($0) },
                .account: content.appAccountToken.map { .text($0.text) },
            ]
        )
    }

    /// Another plan took its place: it ends when that is said, at the latest (Stores, rule 7).
    private var upgrade: EventData {
        EventData(
            .purchaseExpired,
            [.transactionID: .text(transactionID), .reason: .text("upgraded")]
        )
    }

    private var verdict: EventData {
        let isSigned = content.payload.isSigned
        return EventData(
            .verificationPassed,
            [
                .transactionID: .text(transactionID),
                .method: .text(isSigned ? "app_store_jws" : "manual"),
                .reason: isSigned ? nil : .text("local testing: no signature is checked"),
            ]
        )
    }

    private static func required<Value>(
        _ value: Value?,
        _ name: String
    ) throws(InputFault) -> Value {
        guard let value else { throw InputFault(unusable: "\(name) is missing or not valid") }
        return value
    }
}

// MARK: - The App Store's words

extension AppStorePeriod {
    /// Older transactions do not give their reason.
    private var isRenewal: Bool {
        guard let reason = content.transactionReason else {
            return kind == .autoRenewable && transactionID != purchase.originalID
        }
        return reason == "RENEWAL"
    }

    private var isOfFamily: Bool {
        guard let type = content.revocationType else { return ownership == "family_shared" }
        return type == "FAMILY_REVOKE"
    }

    private var ownership: String? {
        switch content.inAppOwnershipType {
        case "PURCHASED": "purchased"
        case "FAMILY_SHARED": "family_shared"
        default: nil
        }
    }

    private static func offer(_ content: AppStoreTransaction) -> String? {
        switch content.payload.integer("offerType") {
        case 1: isFree(content) ? "trial" : "introductory"
        case 2: "promotional"
        case 3: "code"
        case 4: "win_back"
        default: nil
        }
    }

    /// Older transactions do not give the kind of discount.
    private static func isFree(_ content: AppStoreTransaction) -> Bool {
        guard let discount = content.payload.text("offerDiscountType") else {
            return content.payload.integer("price") == 0
        }
        return discount == "FREE_TRIAL"
    }

    private static func reason(_ content: AppStoreTransaction) -> String? {
        switch content.payload.integer("revocationReason") {
        case 0: "other"
        case 1: "app_issue"
        case let number?: "reason_\(number)"
        case nil: nil
        }
    }
}

extension AppStorePayload {
    /// An instant; nil if absent.
    ///
    /// - Throws: `InputFault` for another shape and outside 2000 to 2200.
    func instant(_ name: String) throws(InputFault) -> Instant? {
        switch date(name) {
        case .unstated: nil
        case .at(let instant): instant
        case .afterAll, .absurd: throw InputFault(unusable: "\(name) is not within 2000 to 2200")
        }
    }
}
