import Entitlements
import ModelSupport

extension ExplainedQuestion {
    /// Events at T that do what a change says; nil: it is not done by events, or not at T.
    func events(doing change: Explanation.Change) -> [Event]? {
        switch change.kind {
        case .reversal: purchase(change).map { [event($0, EventData(.revocationReversed))] }
        case .verification: purchase(change).map { [verdict($0)] }
        case .resumption: resumption(change)
        case .claim: purchase(change).map { [claim($0)] }
        case .renewal: renewal(change)
        case .purchase(let products): bought(products)
        case .trial(let id):
            [event(.customer(customer), EventData(.trialStarted, [.trialID: .text(id)]))]
        case .grant:
            [
                event(
                    .customer(customer),
                    EventData(
                        .grantGiven,
                        [.grantID: .text("added"), .features: .texts([feature])]
                    )
                )
            ]
        case .refund: refund(change)
        case .withdrawal: withdrawal(change)
        default: nil
        }
    }

    private func purchase(_ change: Explanation.Change) -> Subject? {
        guard case .purchase(let number, _, _) = change.topic else { return nil }
        return PurchaseName(interned.purchaseName(number)).map(Subject.purchase)
    }

    /// What is given back at T is not taken away at T (P6).
    private func refund(_ change: Explanation.Change) -> [Event]? {
        let reversed = log.contains { $0.kind == .revocationReversed && $0.time == at }
        return reversed
            ? nil : purchase(change).map { [event($0, EventData(.revocationRefunded))] }
    }

    private func verdict(_ purchase: Subject) -> Event {
        event(purchase, EventData(.verificationPassed, [.method: .text("manual")]))
    }

    private func claim(_ purchase: Subject) -> Event {
        let name = purchase.description.dropFirst("purchase/".count)
        return event(
            .customer(customer),
            EventData(.customerClaimed, [.purchase: .text(String(name))])
        )
    }

    /// A pause that begins at T cannot be ended at T (P5).
    private func resumption(_ change: Explanation.Change) -> [Event]? {
        let paused = log.contains { $0.kind == .purchasePaused && $0.time == at }
        return paused ? nil : purchase(change).map { [event($0, EventData(.purchaseResumed))] }
    }

    private func renewal(_ change: Explanation.Change) -> [Event]? {
        // What is taken back at T without a transaction takes a period along that begins at T (P6).
        let isTaken = log.contains {
            $0.time == at && [.revocationRefunded, .revocationRevoked].contains($0.kind)
                && $0.event.data.text(.transactionID) == nil
        }
        guard !isTaken, case .purchase(_, let product?, let kind?) = change.topic,
            let purchase = purchase(change)
        else { return nil }
        return [period(purchase, product, kind.name), verdict(purchase)]
    }

    private func period(_ purchase: Subject, _ product: String, _ kind: String) -> Event {
        event(
            purchase,
            EventData(
                .purchaseRenewed,
                [
                    .transactionID: .text("added"), .productID: .text(product),
                    .productKind: .text(kind),
                ]
            )
        )
    }

    /// A product of the catalog, sold by a store that it is sold in.
    private func bought(_ products: [String]) -> [Event]? {
        guard let catalog = interned.catalogs.catalog(at: at),
            let product = catalog.products.first(where: { products.contains($0.id) }),
            let name = PurchaseName("roku/added")
        else { return nil }
        let ids = product.stores[name.store] ?? [product.id]
        guard let id = ids.first, catalog.product(id, in: name.store)?.id == product.id else {
            return nil
        }
        let purchase = Subject.purchase(name)
        return [
            period(purchase, id, "non_renewing"), verdict(purchase), claim(purchase),
        ]
    }

    private func withdrawal(_ change: Explanation.Change) -> [Event]? {
        guard case .grant(let sequence) = change.topic else { return nil }
        return [
            event(
                .customer(customer),
                EventData(
                    .grantWithdrawn,
                    [.grantID: .text(interned.grantID(givenAt: sequence))]
                )
            )
        ]
    }
}
