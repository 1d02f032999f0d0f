import Encodings
import Entitlements

/// What answers of the Developer API come to.
extension PlayMapping {
    static func drafts(of answer: PlayAnswer) throws(InputFault) -> [EventDraft] {
        switch answer.content {
        case .subscription(let subscription):
            return try drafts(of: subscription, in: answer)
        case .product, .productV2: return try drafts(of: answer.product(), in: answer)
        }
    }

    private static func drafts(
        of subscription: PlayObject,
        in answer: PlayAnswer
    ) throws(InputFault) -> [EventDraft] {
        let state = subscription.text("subscriptionState") ?? ""
        guard let row = PlayStates.row(state) else {
            throw InputFault(unusable: "subscriptionState is not known")
        }
        let items = try PlayLineItem.items(of: subscription, in: answer)
        guard !items.isEmpty else { throw InputFault(unusable: "lineItems are missing") }
        var drafts: [EventDraft] = []
        for item in items { drafts += try row(item) }
        return drafts + names(of: items, in: subscription, answer)
    }

    /// The same purchase under other names (P13): the token that it had before, and the first order,
    /// by which RevenueCat calls it.
    ///
    /// Both are told by every answer: who owns the purchase may follow from them alone, and each of them
    /// may be the first one that is heard (Stores, rule 3). For the acknowledgement once is enough: with
    /// the first order, and whenever nothing hinted at a change; of a tester, who renews within the days
    /// that Google waits for it, with each.
    private static func names(
        of items: [PlayLineItem],
        in subscription: PlayObject,
        _ answer: PlayAnswer
    ) -> [EventDraft] {
        guard let item = items.first else { return [] }
        var drafts: [EventDraft] = []
        func link(_ purchase: PurchaseName, _ alias: PurchaseName) {
            drafts.append(
                statement(
                    EventData(.purchaseLinked, [.alias: .text(alias.description)]),
                    on: purchase,
                    in: answer
                )
            )
        }
        let before = subscription.identifier("linkedPurchaseToken").flatMap {
            PurchaseName.play($0)
        }
        // Of several products none goes on alone with what was before: the token itself does.
        let whole = items.count == 1 ? item.purchase : PurchaseName.play(answer.token)
        if let before, let whole { link(before, whole) }
        guard items.count == 1 else { return drafts }
        if let order = PurchaseName.play(item.order.base), order != item.purchase {
            link(item.purchase, order)
        }
        let isEnough = item.order.isFirst || item.isMovedHere || answer.cause == nil
        if isEnough || answer.environment == .sandbox,
            subscription.text("acknowledgementState") == PlayObject.acknowledged
        {
            drafts.append(acknowledgement(of: item.order.base, on: item.purchase, in: answer))
        }
        return drafts
    }

    private static func drafts(
        of product: PlayProduct,
        in answer: PlayAnswer
    ) throws(InputFault) -> [EventDraft] {
        let named: KeyValuePairs<Field, FieldValue?> = [.productID: .text(product.productID)]
        switch product.state {
        case .pending:
            return [statement(EventData(.purchasePending, named), on: product.purchase, in: answer)]
        case .cancelled where product.start == nil || answer.isOfAbandonedPurchase:
            return [
                statement(EventData(.purchaseAbandoned, named), on: product.purchase, in: answer)
            ]
        case .cancelled: return try period(product, in: answer) + [refund(of: product, in: answer)]
        case .purchased where product.refundableQuantity == 0:
            return try period(product, in: answer) + [refund(of: product, in: answer)]
        case .purchased:
            let drafts = try period(product, in: answer)
            guard product.isAcknowledged == true else { return drafts }
            return drafts
                + [acknowledgement(of: product.orderID, on: product.purchase, in: answer)]
        }
    }

    /// What was bought at once.
    private static func period(
        _ product: PlayProduct,
        in answer: PlayAnswer
    ) throws(InputFault) -> [EventDraft] {
        guard let start = product.start else { throw InputFault(unusable: "the time is missing") }
        let bought = EventData(
            .purchaseCompleted,
            [
                .transactionID: .text(product.orderID), .productID: .text(product.productID),
                .productKind: .text(product.kind.name), .ownership: .text("purchased"),
                .quantity: product.quantity.flatMap {
                    FieldShape.quantities.contains($0) ? .integer($0) : nil
                },
                .storefront: product.region.map { .text($0) },
                .account: product.account.map { .text($0.text) },
            ]
        )
        let verdict = EventData(
            .verificationPassed,
            [
                .transactionID: .text(product.orderID),
                .method: .text(VerificationMethod.storeAPI.rawValue),
            ]
        )
        var drafts = [bought, verdict].map {
            statement($0, on: product.purchase, at: start, in: answer)
        }
        if let order = PurchaseName.play(product.orderID), order != product.purchase {
            drafts.append(
                statement(
                    EventData(.purchaseLinked, [.alias: .text(order.description)]),
                    on: product.purchase,
                    in: answer
                )
            )
        }
        return drafts
    }

    /// Where the purchase is what made us ask, that came late, and says nothing of when it was given back:
    /// by now.
    private static func refund(of product: PlayProduct, in answer: PlayAnswer) -> EventDraft {
        statement(
            EventData(.revocationRefunded, [.transactionID: .text(product.orderID)]),
            on: product.purchase,
            at: answer.isOfPurchase ? answer.observedAt : answer.changedAt,
            in: answer
        )
    }

    private static func acknowledgement(
        of orderID: String,
        on purchase: PurchaseName,
        in answer: PlayAnswer
    ) -> EventDraft {
        statement(
            EventData(.purchaseAcknowledged, [.transactionID: .text(orderID)]),
            on: purchase,
            in: answer
        )
    }

    /// `time`: nil: when it came to be.
    private static func statement(
        _ data: EventData,
        on purchase: PurchaseName,
        at time: Instant? = nil,
        in answer: PlayAnswer
    ) -> EventDraft {
        EventDraft(
            subject: .purchase(purchase),
            time: time ?? answer.changedAt,
            observedAt: answer.observedAt,
            data: data
        )
    }
}

extension PlayAnswer {
    /// Its name in a note.
    var name: String {
        switch content {
        case .subscription: "subscription_answer"
        case .product, .productV2: "product_answer"
        }
    }

    /// What it says of a one-time product.
    ///
    /// - Throws: `InputFault` for what cannot be used, and for a subscription.
    func product() throws(InputFault) -> PlayProduct {
        switch content {
        case .subscription: throw InputFault(unusable: "it is a subscription")
        case .product(let fields, let id): try PlayProduct(fields, productID: id, in: self)
        case .productV2(let fields): try PlayProduct(v2: fields, in: self)
        }
    }

    /// A tester's purchases are the sandbox's.
    var environment: StoreEnvironment { isTest ? .sandbox : .production }

    private var isTest: Bool {
        switch content {
        case .subscription(let fields): fields["testPurchase"] != nil
        case .product(let fields, _): fields.integer("purchaseType") == 0
        case .productV2(let fields): fields["testPurchaseContext"] != nil
        }
    }

    /// Whether what made us ask was that a one-time product was bought.
    fileprivate var isOfPurchase: Bool {
        guard case .oneTimeProduct(let type, _) = cause?.notification.content else { return false }
        return PlayRows.oneTimeProduct(type)?.hint == .exists
    }

    /// Whether what made us ask was a pending purchase that was given up.
    fileprivate var isOfAbandonedPurchase: Bool {
        guard case .oneTimeProduct(let type, _) = cause?.notification.content else { return false }
        return PlayRows.oneTimeProduct(type)?.hint == .abandoned
    }
}
