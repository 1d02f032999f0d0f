import Encodings
import Entitlements

/// One environment of the log as one customer sees it.
struct SlowWorld {
    /// C2: the customer at the end of the links.
    let customer: String
    /// The events of the environment, catalogs left out.
    let events: [RecordedEvent]
    /// Those with this customer as subject, under any name.
    let own: [RecordedEvent]
    // K1: one catalog serves all environments. K8: as this customer has them.
    let catalogs: [SlowCatalog]
    /// All of the environment.
    let purchases: [SlowPurchase]
    let customerLinks: SlowLinks

    init(log: [RecordedEvent], customer asked: String, environment: StoreEnvironment) {
        let events = log.filter {
            $0.kind != .catalogPublished && $0.event.environment == environment
        }
        self.events = events
        var customerLinks = SlowLinks()
        var purchaseLinks = SlowLinks()
        for event in events {
            guard let alias = event.data.text(.alias) else { continue }
            switch event.event.subject {
            case .customer(let id): customerLinks.add(alias: alias, name: id.text)  // C2
            case .purchase(let name):  // P13
                purchaseLinks.add(alias: alias, name: name.description)
            case .store, .catalog: break
            }
        }
        self.customerLinks = customerLinks
        let customer = customerLinks.end(of: asked)
        self.customer = customer
        own = events.filter {
            guard case .customer(let id) = $0.event.subject else { return false }
            return customerLinks.end(of: id.text) == customer
        }
        let catalogs = log.filter { $0.kind == .catalogPublished }
            .map { SlowCatalog(event: $0).asSeen(by: customer) }
        self.catalogs = catalogs
        // A purchase exists once any event names it.
        let names = sortedByBytes(
            events.flatMap { Self.purchaseNames(in: $0) }.map { purchaseLinks.end(of: $0) }
        )
        purchases = names.compactMap { text in
            guard let name = PurchaseName(text) else { return nil }
            // P13: all events that name either are events of one purchase.
            let own = events.filter { event in
                Self.purchaseNames(in: event).contains { purchaseLinks.end(of: $0) == text }
            }
            return SlowPurchase(name: name, events: own, catalogs: catalogs)
        }
    }

    private static func purchaseNames(in event: RecordedEvent) -> [String] {
        var names: [String] = []
        if case .purchase(let name) = event.event.subject {
            names.append(name.description)
            if let alias = event.data.text(.alias) { names.append(alias) }
        }
        if let purchase = event.data.text(.purchase) { names.append(purchase) }
        return names
    }
}
