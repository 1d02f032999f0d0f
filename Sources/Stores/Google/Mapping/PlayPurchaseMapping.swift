import Entitlements

/// What signed purchase data says. It is from when the purchase was made, so whatever the Developer
/// API says of it counts instead (P1).
extension PlayMapping {
    static func drafts(of purchase: VerifiedPlayPurchase) -> [EventDraft] {
        do throws(InputFault) {
            return try said(by: purchase)
        } catch {
            // Without a time of its own it is of no time: the first that there can be.
            return [
                note(
                    "purchase_data",
                    on: purchase.purchase,
                    at: .earliest,
                    detail: error.detail
                )
            ]
        }
    }

    private static func said(by purchase: VerifiedPlayPurchase) throws(InputFault) -> [EventDraft] {
        let fields = purchase.fields
        let bought = try fields.required(
            fields.instant(milliseconds: "purchaseTime"),
            "purchaseTime"
        )
        if let latest = purchase.latest, latest < bought {
            throw InputFault(unusable: "purchaseTime lies ahead")
        }
        let productID = try fields.required(fields.name("productId"), "productId")
        func statement(_ data: EventData) -> EventDraft {
            EventDraft(
                subject: .purchase(purchase.purchase),
                time: bought,
                observedAt: bought,
                data: data
            )
        }
        switch fields.integer("purchaseState") {
        // A subscription's data does not say how long it lasts: that is asked for.
        case 0 where fields["autoRenewing"] != nil, 2, 4:
            return [statement(EventData(.purchasePending, [.productID: .text(productID)]))]
        case 0:
            let transaction = fields.identifier("orderId") ?? purchase.purchase.originalID
            let account = fields.text("obfuscatedAccountId").flatMap { CustomerID($0) }
            let period = EventData(
                .purchaseCompleted,
                [
                    .transactionID: .text(transaction), .productID: .text(productID),
                    .productKind: .text(ProductKind.nonConsumable.name),
                    .quantity: fields.integer("quantity").flatMap {
                        FieldShape.quantities.contains($0) ? .integer($0) : nil
                    },
                    .ownership: .text("purchased"), .account: account.map { .text($0.text) },
                ]
            )
            let verdict = EventData(
                .verificationPassed,
                [
                    .transactionID: .text(transaction),
                    .method: .text(VerificationMethod.playSignature.rawValue),
                ]
            )
            return [statement(period), statement(verdict)]
                + link(purchase.purchase, toOrder: transaction, at: bought)
        default:
            return [note("purchase_data", on: purchase.purchase, at: bought)]
        }
    }
}
