import Encodings
import Entitlements

/// What an answer says of one period of a purchase.
struct RevenueCatPeriod: Hashable, Sendable {
    var transactionID: String
    var productID: String
    var productKind: ProductKind
    var start: Instant
    var end: StatedEnd
    /// Until when access goes on behind the end; nil: it does not, or it is not said.
    var graceUntil: Instant?
    var quantity: Int64?
    var price: RevenueCatPrice?
    var ownership: String?
    var offer: String?
    var storefront: String?
    var account: CustomerID?

    /// When it is stated, so that whatever was told counts instead (P1): a webhook tells more of it.
    private var saidAt: Instant { start.saidWeakly(until: end.instant ?? start) }

    /// The period, and the verdict that it needs to give access (P7).
    func drafts(of names: RevenueCatNames) -> [EventDraft] {
        let isFirst = names.isFirstKnown && transactionID.isSame(as: names.purchase.originalID)
        let isSoldOnce = productKind != .autoRenewable
        let period = EventData(
            isFirst || isSoldOnce ? .purchaseCompleted : .purchaseRenewed,
            [
                .transactionID: .text(transactionID), .productID: .text(productID),
                .productKind: .text(productKind.name),
                .expiresAt: end.instant.map { .instant($0) },
                .priceMicros: price.map { .integer($0.micros) },
                .currencyCode: price.map { .text($0.currencyCode) },
                .quantity: quantity.map { .integer($0) },
                .ownership: ownership.map { .text($0) }, .offer: offer.map { .text($0) },
                .storefront: storefront.map { .text($0) }, .account: account.map { .text($0.text) },
            ]
        )
        let verdict = EventData(
            .verificationPassed,
            [
                .transactionID: .text(transactionID),
                .method: .text(VerificationMethod.storeAPI.rawValue),
            ]
        )
        return [period, verdict].map {
            EventDraft(
                subject: .purchase(names.purchase),
                time: start,
                observedAt: saidAt,
                data: $0
            )
        }
    }

    /// The grace that was given behind it, where nobody told of it.
    func grace(of names: RevenueCatNames) -> [EventDraft] {
        guard let graceUntil, let end = end.instant, end < graceUntil else { return [] }
        return [grace(until: graceUntil, from: end, saidAt: nil, of: names)]
    }

    /// `saidAt`: nil: weakly, so that of two such the longer counts.
    func grace(
        until graceUntil: Instant,
        from start: Instant,
        saidAt: Instant?,
        of names: RevenueCatNames
    ) -> EventDraft {
        EventDraft(
            subject: .purchase(names.purchase),
            time: start,
            observedAt: saidAt ?? self.start.saidWeakly(until: graceUntil),
            data: EventData(
                .purchaseGraceStarted,
                [.transactionID: .text(transactionID), .graceUntil: .instant(graceUntil)]
            )
        )
    }
}
