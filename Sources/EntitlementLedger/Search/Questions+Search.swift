import Encodings
package import Entitlements
import EventLog

/// What an exact id names (row 8.6).
package enum IdentifierMatch: Sendable, Hashable {
    /// A customer, by this name.
    case customer(CustomerID)
    /// A purchase, and who owns it now; nil: nobody, or their name is erased.
    case purchase(PurchaseName, owner: CustomerID?)
    /// A transaction or order, by the purchase that it is one of, and who owns that now.
    case transaction(PurchaseName, owner: CustomerID?)

    /// The customer that it leads to; nil: nobody.
    package var customer: CustomerID? {
        switch self {
        case .customer(let id): id
        case .purchase(_, let owner), .transaction(_, let owner): owner
        }
    }
}

/// What a search found, and where it has not looked yet.
package struct IdentifierSearch: Sendable, Hashable {
    /// What the id names.
    package var matches: [IdentifierMatch] = []
    /// Events whose transactions are not read yet, about.
    package var unread: UInt64 = 0

    /// Begins with nothing.
    package init() {}
}

extension Questions {
    /// Stores that are tried where a purchase is named by its original id alone.
    package static let searchedStores = [
        "app_store", "mac_app_store", "play_store", "amazon", "stripe", "roku", "paddle",
        "rc_billing", "promotional",
    ]

    /// What an id names that somebody reads out: a customer's, a purchase's, the original id of one in
    /// any of the stores, or that of a transaction or order (row 8.6).
    ///
    /// Ids are looked up whole: names stand nowhere in clear.
    ///
    /// Cost: a look-up in the vault for each way to read the text and for each of its shards, the last
    /// events whose transactions are not read yet, and the owners of each purchase that is found.
    package func search(
        _ text: String,
        in environment: StoreEnvironment,
        at now: Instant
    ) throws -> IdentifierSearch {
        let size = try size()
        try catchUpViews()
        var search = IdentifierSearch()
        if let customer = CustomerID(text),
            try recordedStream(.customer(customer), in: environment) != nil
        {
            search.matches.append(.customer(customer))
        }
        var found: Set<PurchaseName> = []
        for purchase in Self.purchases(namedBy: text) {
            guard let stream = try recordedStream(.purchase(purchase), in: environment) else {
                continue
            }
            found.insert(purchase)
            search.matches.append(
                .purchase(purchase, owner: try owner(of: stream, at: now, size: size))
            )
        }
        guard Identifier.isValid(text) else { return search }
        let (streams, unread) = try streams(ofTransaction: text, size: size)
        search.unread = unread
        for stream in streams {
            guard let name = try vault.name(of: stream),
                name.environment == environment.rawValue,
                case .purchase(let purchase)? = Subject(name.subject),
                found.insert(purchase).inserted
            else { continue }
            search.matches.append(
                .transaction(purchase, owner: try owner(of: stream, at: now, size: size))
            )
        }
        return search
    }

    /// The streams in whose records a transaction's id stands, and how many records were not looked at.
    ///
    /// The last records that are not read yet are read here: what was just bought is found; and so are
    /// the streams of shards that an erasure has emptied.
    private func streams(
        ofTransaction text: String,
        size: UInt64
    ) throws -> (streams: [UInt64], unread: UInt64) {
        let before = try vault.identifiersEnd()
        var outdated = Set(try vault.outdatedShards())
        var streams: Set<UInt64> = []
        for stream in try vault.streams(holding: text)
        where try heldIdentifiers(of: stream, below: size).held.contains(text) {
            streams.insert(stream)
        }
        // A table that was emptied meanwhile holds no more than is left of it.
        let end = min(before, try vault.identifiersEnd(), size)
        let start = max(end, size - min(size, IdentifierFollower.batch))
        for held in try heldIdentifiers(from: start, upTo: size)
        where held.text.isSame(as: text) {
            streams.insert(held.stream)
        }
        outdated.formUnion(try vault.outdatedShards())
        let (others, unread) = try self.streams(ofTransaction: text, in: outdated, below: end)
        return (streams.union(others).sorted(), unread + start - end)
    }

    /// The same of shards that an erasure has emptied, within the records of a batch.
    private func streams(
        ofTransaction text: String,
        in shards: Set<Int>,
        below end: UInt64
    ) throws -> (streams: Set<UInt64>, unread: UInt64) {
        var streams: Set<UInt64> = []
        var (read, unread) = (UInt64(0), UInt64(0))
        for shard in shards.sorted() {
            for stream in try vault.streams(ofShard: shard) {
                guard read < IdentifierFollower.batch else {
                    // Each has one at least.
                    unread += 1
                    continue
                }
                let found = try heldIdentifiers(of: stream, below: end)
                read += found.read
                if found.held.contains(text) { streams.insert(stream) }
            }
        }
        return (streams, unread)
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

extension Set<HeldIdentifier> {
    /// Whether an id is one of them, byte by byte.
    fileprivate func contains(_ text: String) -> Bool { contains { $0.text.isSame(as: text) } }
}
