import Encodings
public import Entitlements

/// What a customer owns at a point, with its history: `GET /v1/customers/{id}/purchases`.
public struct PurchasesAnswer: Provable {
    /// Whom and which point it is about.
    public var question: QuestionEcho
    /// The next instant at which something of the purchases changes without a new event (Z15); nil:
    /// never.
    public var validUntil: Instant?
    /// The purchases, by name.
    public var purchases: [OwnedPurchase]
    /// What asks again.
    public var token: String?

    /// Its members, in the order in which they are written.
    package static let fields = Fields(
        "Purchases",
        "What a customer owns, with its history",
        Self.init
    ) {
        Field(inline: \.question)
        Field(
            "validUntil",
            \.validUntil,
            .orNull(.instant),
            "The next instant at which the answer may change without a new event; null: never"
        ).since(5, before: nil)
        Field("purchases", \.purchases, .list(.object))
        Field("token", \.token, .token).echoed
    }
}

extension PurchasesAnswer {
    /// An answer, whose token is made of its text.
    package init(
        _ question: QuestionEcho,
        validUntil: Instant?,
        _ purchases: [OwnedPurchase]
    ) {
        self.init(
            question: question,
            validUntil: validUntil,
            purchases: purchases.sorted { $0.state.purchase.precedes($1.state.purchase) },
            token: nil
        )
    }
}

/// A purchase as `show` says it, with its history.
public struct OwnedPurchase: Described {
    /// What it is at T.
    public var state: PurchaseState
    /// Nil: since ever (C1).
    public var ownedSince: Instant?
    /// What each transaction that has started gave, in P3's order.
    public var periods: [PurchasePeriod]

    /// Makes one.
    package init(state: PurchaseState, ownedSince: Instant?, periods: [PurchasePeriod]) {
        self.state = state
        self.ownedSince = ownedSince
        self.periods = periods
    }

    /// Its members, in the order in which they are written.
    package static let fields = Fields(
        "OwnedPurchase",
        "A purchase with its history",
        Self.init
    ) {
        Field(inline: \.state)
        Field("ownedSince", \.ownedSince, .orNull(.instant), "null: since ever")
        Field(
            "periods",
            \.periods,
            .list(.object),
            "What each transaction that has started gave, in the order of their starts"
        )
    }
}

/// What one transaction gave; nil where a store does not say, or where it is erased.
public struct PurchasePeriod: Described {
    /// The store's id of the transaction.
    public var transactionID: String?
    /// The product; nil: none is known.
    public var productID: String
    /// The product's kind; nil: none is known.
    public var productKind: ProductKind
    /// What the purchase would be, were this its last period.
    public var status: PurchaseStatus
    /// Its first instant.
    public var startsAt: Instant
    /// The end of the period by what is known; nil: it has none.
    public var expiresAt: Instant?
    /// The end of its grace.
    public var graceUntil: Instant?
    /// Whether it was bought or shared.
    public var ownership: String?
    /// Which offer it was bought by.
    public var offer: String?
    /// Millionths of the currency's unit.
    public var priceMicros: Int64?
    /// ISO 4217.
    public var currencyCode: String?
    /// How many were bought.
    public var quantity: Int64?
    /// The store's country or region.
    public var storefront: String?
    /// Whether evidence was checked and held (P7).
    public var isVerified: Bool
    /// The verdict that holds (P7).
    public var verification: Verification?
    /// The refund or revocation that holds (P6).
    public var revocation: Revocation?
    /// Who told of the transaction.
    public var source: String?
    /// T3 of the transaction.
    public var recordedAt: Instant

    /// Its members, in the order in which they are written.
    package static let fields = Fields("Period", "What one transaction gave", Self.init) {
        Field("transactionId", \.transactionID, .orNull(.identifier))
        Field("productId", \.productID, .name)
        Field("productKind", \.productKind, .productKind)
        Field("status", \.status, .word, "What it would be, were this the last period")
        Field("startsAt", \.startsAt, .instant)
        Field("expiresAt", \.expiresAt, .orNull(.instant))
        Field("graceUntil", \.graceUntil, .orNull(.instant))
        Field("ownership", \.ownership, .orNull(.value(of: .ownership)))
        Field("offer", \.offer, .orNull(.value(of: .offer)))
        Field("priceMicros", \.priceMicros, .orNull(.value(of: .priceMicros)))
        Field("currencyCode", \.currencyCode, .orNull(.value(of: .currencyCode)))
        Field("quantity", \.quantity, .orNull(.value(of: .quantity)))
        Field("storefront", \.storefront, .orNull(.value(of: .storefront)))
        Field("isVerified", \.isVerified, .boolean)
        Field(
            "verification",
            \.verification,
            .orNull(.object),
            "The verdict that holds; null: none"
        )
        Field(
            "revocation",
            \.revocation,
            .orNull(.object),
            "The refund or revocation that holds; null: none"
        )
        Field("source", \.source, .orNull(.text), "Who told of the transaction")
        Field("recordedAt", \.recordedAt, .instant)
    }
}

extension PurchasePeriod {
    /// What one transaction gave, as it stands at an instant.
    ///
    /// `index`: of the period in its purchase. `statement`: the values of the event that says so.
    /// `ends`: where its end and its grace's are shown.
    package init(
        _ index: Int,
        of purchase: PurchaseTimeline,
        at instant: Instant,
        ends: (expiresAt: Instant?, graceUntil: Instant?),
        statement: [Entitlements.Field: FieldValue],
        told: (source: String?, recordedAt: Instant),
        verification: Verification?,
        revocation: Revocation?
    ) {
        let period = purchase.periods[index]
        self.init(
            transactionID: statement[.transactionID]?.text,
            productID: period.productID,
            productKind: period.kind,
            status: purchase.status(ofPeriod: index, at: instant),
            startsAt: period.start,
            expiresAt: ends.expiresAt,
            graceUntil: ends.graceUntil,
            ownership: statement[.ownership]?.text,
            offer: statement[.offer]?.text,
            priceMicros: statement[.priceMicros]?.integer,
            currencyCode: statement[.currencyCode]?.text,
            quantity: statement[.quantity]?.integer,
            storefront: statement[.storefront]?.text,
            isVerified: period.isVerified(at: instant),
            verification: verification,
            revocation: revocation,
            source: told.source,
            recordedAt: told.recordedAt
        )
    }

    /// A verdict.
    public struct Verification: Described {
        /// The effective instant that is asked about (T).
        public var at: Instant
        /// How it was checked.
        public var method: String?
        /// Why, in the words of who told it.
        public var reason: String?

        /// Makes one.
        package init(at: Instant, method: String?, reason: String?) {
            self.at = at
            self.method = method
            self.reason = reason
        }

        /// Its members, in the order in which they are written.
        package static let fields = Fields("Verification", "A verdict", Self.init) {
            Field("at", \.at, .instant)
            Field("method", \.method, .orNull(.value(of: .method)))
            Field("reason", \.reason, .orNull(.value(of: .reason)))
        }
    }

    /// A refund or revocation.
    public struct Revocation: Described {
        /// The `type` of its event.
        public var type: String
        /// The effective instant that is asked about (T).
        public var at: Instant
        /// When it ends; nil: never.
        public var until: Instant?
        /// Why, in the words of who told it.
        public var reason: String?
        /// Millionths of the currency's unit.
        public var priceMicros: Int64?
        /// ISO 4217.
        public var currencyCode: String?

        /// Makes one.
        package init(
            type: String,
            at: Instant,
            until: Instant?,
            reason: String?,
            priceMicros: Int64?,
            currencyCode: String?
        ) {
            self.type = type
            self.at = at
            self.until = until
            self.reason = reason
            self.priceMicros = priceMicros
            self.currencyCode = currencyCode
        }

        /// Its members, in the order in which they are written.
        package static let fields = Fields("Revocation", "A refund or revocation", Self.init) {
            Field("type", \.type, .words(["revocation.refunded", "revocation.revoked"]))
            Field("at", \.at, .instant)
            Field("until", \.until, .orNull(.instant))
            Field("reason", \.reason, .orNull(.value(of: .reason)))
            Field("priceMicros", \.priceMicros, .orNull(.value(of: .priceMicros)))
            Field("currencyCode", \.currencyCode, .orNull(.value(of: .currencyCode)))
        }
    }
}
