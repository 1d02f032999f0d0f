package import Entitlements
import EventLog
package import LedgerAPI

/// A purchase as it stands, whoever owns it.
package struct StandingPurchase: Sendable {
    /// The name that it is shown by (P13).
    package var shown: PurchaseName
    /// All of its names, by which its store may be asked: that one first.
    package var names: [PurchaseName]
    /// What it is, as `show` says it.
    package var state: PurchaseState
    /// Whether it was claimed by old evidence and its store was not asked since (Stores, rule 7).
    package var isUnconfirmed: Bool
    /// Whom it belongs to, as a number that only compares; nil: nobody.
    package var owner: UInt64?
}

extension Questions {
    /// The purchases that a customer owns at an instant, by the names that they are shown by; those
    /// whose name is erased are passed over.
    ///
    /// Cost: as `show`.
    package func purchases(
        ownedBy customer: CustomerID,
        in environment: StoreEnvironment,
        at instant: Instant
    ) throws -> [PurchaseName] {
        try loadTimeline(of: customer, environment: environment, size: log.end().size).timeline
            .owned(at: instant).compactMap { try purchaseName(ofStream: $0.timeline.number) }
            .sorted()
    }

    /// A purchase as it stands at an instant, by all that is known; nil: nothing was recorded of it, or
    /// its name is erased.
    ///
    /// Cost: the facts about it, and about whoever owned it.
    package func standing(
        of purchase: PurchaseName,
        in environment: StoreEnvironment,
        at instant: Instant
    ) throws -> StandingPurchase? {
        let size = try log.end().size
        if views.end < size { try views.catchUp() }
        let name = StreamName(.purchase(purchase), in: environment)
        guard let stream = try vault.stream(of: name) else { return nil }
        var loader = FactLoader(log: log, vault: vault, views: views, size: size)
        let facts = try loader.facts(ofPurchase: stream)
        let links = Links(facts, of: .purchaseLinked)
        let number = links.canonical(stream)
        let own = facts.filter { $0.store != nil && links.canonical($0.subject) == number }
        guard !own.isEmpty, let shown = try purchaseName(ofStream: number) else { return nil }
        let catalogs = try catalogHistory(size: size)
        let timeline = PurchaseTimeline(
            number: number,
            facts: own,
            names: loader.names.names,
            catalogs: catalogs
        )
        let others = try Set(own.map(\.subject)).filter { $0 != number }.sorted()
            .compactMap(purchaseName(ofStream:))
        let owners = OwnerFacts(facts, catalogs: catalogs).ownership(of: number)
        return StandingPurchase(
            shown: shown,
            names: [shown] + others,
            state: PurchaseState(timeline.state(at: instant), name: shown.description),
            isUnconfirmed: timeline.isUnconfirmed(owners),
            owner: owners.last
        )
    }

    /// All names of a customer (C2), the given one first; that one alone where nothing is known.
    ///
    /// Cost: the facts about the customer.
    package func names(
        of customer: CustomerID,
        in environment: StoreEnvironment
    ) throws -> [CustomerID] {
        let loaded = try loadFacts(of: customer, environment: environment, size: log.end().size)
        let links = Links(loaded.facts, of: .customerLinked)
        let number = links.canonical(loaded.asked)
        let others = loaded.facts.filter { $0.kind == .customerLinked }
            .flatMap { [$0.subject, $0.other].compactMap(\.self) }
        let same = Set(others).filter { $0 != loaded.asked && links.canonical($0) == number }
        return [customer] + (try same.sorted().compactMap { try vault.customer(of: $0) })
    }

    /// What only compares with `StandingPurchase.owner`; nil: nothing was recorded of the customer.
    ///
    /// Cost: the facts about the customer.
    package func number(
        of customer: CustomerID,
        in environment: StoreEnvironment
    ) throws -> UInt64? {
        let loaded = try loadFacts(of: customer, environment: environment, size: log.end().size)
        return loaded.isSeen ? loaded.timeline.customer : nil
    }
}
