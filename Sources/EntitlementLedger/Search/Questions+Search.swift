package import Entitlements
import EventLog

/// What an exact id names (row 8.6).
package enum IdentifierMatch: Sendable, Hashable {
    /// A customer, by this name.
    case customer(CustomerID)
    /// A purchase, and who owns it now; nil: nobody, or their name is erased.
    case purchase(PurchaseName, owner: CustomerID?)

    /// The customer that it leads to; nil: nobody.
    package var customer: CustomerID? {
        switch self {
        case .customer(let id): id
        case .purchase(_, let owner): owner
        }
    }
}

extension Questions {
    /// Stores that are tried where a purchase is named by its original id alone.
    package static let searchedStores = [
        "app_store", "mac_app_store", "play_store", "amazon", "stripe", "roku", "paddle",
        "rc_billing", "promotional",
    ]

    /// What an id names that somebody reads out: a customer's, a purchase's, or the original id of one in
    /// any of the stores (row 8.6).
    ///
    /// Ids are looked up whole: names stand nowhere in clear.
    ///
    /// Cost: a look-up in the vault for each way to read the text, and the owners of each purchase that is
    /// found.
    package func search(
        _ text: String,
        in environment: StoreEnvironment,
        at now: Instant
    ) throws -> [IdentifierMatch] {
        let size = try size()
        if views.end < size { try views.catchUp() }
        var matches: [IdentifierMatch] = []
        if let customer = CustomerID(text),
            try recordedStream(.customer(customer), in: environment) != nil
        {
            matches.append(.customer(customer))
        }
        for purchase in Self.purchases(namedBy: text) {
            guard let stream = try recordedStream(.purchase(purchase), in: environment) else {
                continue
            }
            matches.append(
                .purchase(purchase, owner: try owner(of: stream, at: now, size: size))
            )
        }
        return matches
    }

    /// The purchases that a text may name.
    private static func purchases(namedBy text: String) -> [PurchaseName] {
        let whole = PurchaseName(text).map { [$0] } ?? []
        guard Identifier.isValid(text) else { return whole }
        return whole
            + searchedStores.map { PurchaseName(store: $0, originalID: text) }
    }

    /// The stream of a subject of which something was recorded; nil: nothing was.
    private func recordedStream(
        _ subject: Subject,
        in environment: StoreEnvironment
    ) throws -> UInt64? {
        guard let stream = try vault.stream(of: StreamName(subject, in: environment)),
            try views.lastSequence(of: stream) != nil
        else { return nil }
        return stream
    }

    private func owner(
        of purchase: UInt64,
        at instant: Instant,
        size: UInt64
    ) throws -> CustomerID? {
        var loader = FactLoader(log: log, vault: vault, views: views, size: size)
        let ownership = PurchaseOwnership(
            purchase: purchase,
            facts: try loader.facts(ofPurchase: purchase),
            catalogs: try catalogHistory(size: size)
        )
        return try ownership.owner(at: instant).flatMap { try vault.customer(of: $0) }
    }
}
