import Entitlements

/// What an answer says of a one-time product (`purchases.products`, `purchases.productsv2` of
/// developers.google.com/android-publisher/api-ref/rest/v3).
struct PlayProduct: Hashable, Sendable {
    let purchase: PurchaseName
    let productID: String
    let state: State
    let orderID: String
    let start: Instant?
    /// Whether it was used up: it was a consumable then.
    private let isConsumed: Bool
    /// Whether it was rented: for how long, the catalog says (P2, K10).
    private let isRented: Bool
    let quantity: Int64?
    /// How many of them can still be given back; nil: it is not said.
    let refundableQuantity: Int64?
    /// Whether Google was told that it was given; nil: it is not said.
    let isAcknowledged: Bool?
    let region: String?
    let account: CustomerID?

    enum State: Hashable, Sendable { case purchased, cancelled, pending }

    /// Reads an answer of `purchases.products`.
    ///
    /// - Throws: `InputFault` if it lacks what a purchase needs, or a date is absurd.
    init(
        _ fields: PlayObject,
        productID: String?,
        in answer: PlayAnswer
    ) throws(InputFault) {
        switch fields.integer("purchaseState") {
        case 0: state = .purchased
        case 1: state = .cancelled
        case 2: state = .pending
        default: throw InputFault(unusable: "purchaseState is not known")
        }
        self.productID = try fields.required(
            fields.name("productId") ?? productID,
            "productId"
        )
        start = try fields.instant(milliseconds: "purchaseTimeMillis")
        isConsumed = fields.integer("consumptionState") == 1
        isRented = false
        quantity = fields.integer("quantity")
        refundableQuantity = fields.integer("refundableQuantity")
        isAcknowledged = fields.integer("acknowledgementState").map { $0 == 1 }
        (purchase, orderID, region, account) = try Self.common(fields, answer)
    }

    /// Reads an answer of `purchases.productsv2`, of one product.
    ///
    /// - Throws: `InputFault` if it lacks what a purchase needs, or a date is absurd.
    init(v2 fields: PlayObject, in answer: PlayAnswer) throws(InputFault) {
        switch fields.object("purchaseStateContext")?.text("purchaseState") {
        case "PURCHASED": state = .purchased
        case "CANCELLED": state = .cancelled
        case "PENDING": state = .pending
        default: throw InputFault(unusable: "purchaseState is not known")
        }
        let items = fields.objects("productLineItem")
        guard items.count == 1 else { throw InputFault(unusable: "productLineItem is not one") }
        productID = try items[0].required(items[0].name("productId"), "productLineItem.productId")
        let details = items[0].object("productOfferDetails")
        start = try fields.instant("purchaseCompletionTime")
        isConsumed = details?.text("consumptionState") == "CONSUMPTION_STATE_CONSUMED"
        isRented = details?["rentOfferDetails"] != nil
        quantity = details?.integer("quantity")
        refundableQuantity = details?.integer("refundableQuantity")
        isAcknowledged = fields.text("acknowledgementState").map { $0 == PlayObject.acknowledged }
        (purchase, orderID, region, account) = try Self.common(fields, answer)
    }

    /// What was rented is had for a time, the rest for good: Google does not tell consumables apart
    /// until they are used up.
    var kind: ProductKind {
        if isRented { return .nonRenewing }
        return isConsumed ? .consumable : .nonConsumable
    }

    /// What both forms say alike; a purchase by a promotion code has no order.
    private static func common(
        _ fields: PlayObject,
        _ answer: PlayAnswer
    ) throws(InputFault) -> (PurchaseName, String, String?, CustomerID?) {
        (
            try fields.required(PurchaseName.play(answer.token), "purchaseToken"),
            fields.identifier("orderId") ?? answer.token, fields.code("regionCode"),
            fields.text("obfuscatedExternalAccountId").flatMap { CustomerID($0) }
        )
    }
}

extension PlayObject {
    /// What both kinds of purchases say once Google was told that they were given.
    static let acknowledged = "ACKNOWLEDGEMENT_STATE_ACKNOWLEDGED"
}
