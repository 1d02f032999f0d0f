import Encodings
import EntitlementLedger
import Entitlements
import HTTPTypes
import LedgerAPI

/// What a caller asks of the feed.
extension Call {
    /// Whether the caller's key shows events of all customers; one of support alone names the customer first.
    var readsAll: Bool { caller.has(anyOf: [.read, .audit]) }

    /// How much of the events of all customers the caller's key shows (Interfaces, "Who may").
    var readerOfAll: FeedReader {
        if caller.has(.admin) { return .everything }
        return caller.has(.read) ? .application : .auditor
    }

    /// How much of one customer's events it shows, at whom support's look is noted.
    var readerOfCustomer: FeedReader { caller.has(.support) ? .everything : .application }

    /// Which events are asked for, from a sequence on, about whomever.
    ///
    /// `end`: the sequence before which they stand, as the query says it; nil: they may be the last. What a page
    /// calls `to` is an instant.
    func feedFilter(from first: UInt64, to end: String? = nil) throws(Problem) -> EventFilter {
        var filter = EventFilter(sequences: first..<UInt64.max)
        filter.kind = try query[.type].map { name throws(Problem) in
            guard let kind = EventKind(name: name) else {
                throw Problem(.invalidValue, "expected a type of events", path: "type")
            }
            return kind
        }
        filter.purchase = try query[.purchase].map { text throws(Problem) in
            guard let purchase = PurchaseName(text) else {
                throw Problem(.invalidValue, "expected STORE/ORIGINAL_ID", path: "purchase")
            }
            return purchase
        }
        filter.source = query[.source]
        if let end { filter.sequences = first..<max(first, try Query.sequence(end, "to")) }
        let since = try query[.since].map { text throws(Problem) in try instant(text, "since") }
        let until = try query[.until].map { text throws(Problem) in try instant(text, "until") }
        if since != nil || until != nil {
            filter.times = Interval(start: since ?? Instant(milliseconds: .min), end: until)
        }
        if query[.environment] != nil { filter.environment = try environment() }
        return filter
    }

    /// Lets a filter ask about a customer whom the query names, and notes that support did.
    ///
    /// - Returns: how much is shown.
    func reader(
        askingWith filter: inout EventFilter,
        _ operation: String,
        _ service: LedgerService
    ) throws(Problem) -> FeedReader {
        guard let text = query[.customer] else {
            // What support sees of somebody is noted with that customer.
            guard readsAll else {
                throw Problem(.forbidden, "a key of support names the customer")
            }
            guard readerOfAll != .auditor || filter.purchase == nil else {
                throw Problem(.forbidden, Self.namesOfAuditors)
            }
            return readerOfAll
        }
        // Whoever is shown no names would learn which of their numbers is whose.
        guard caller.has(anyOf: [.read, .support]) else {
            throw Problem(.forbidden, Self.namesOfAuditors)
        }
        guard let customer = CustomerID(text) else {
            throw Problem(
                .invalidValue,
                "an id has 1 to 1024 bytes without control characters",
                path: "customer"
            )
        }
        filter.customer = customer
        guard caller.has(.support) else { return readerOfCustomer }
        guard service.accesses.hasRoom else { throw Problem.accessesFull }
        // Without one all are shown; where nothing is recorded of the customer nothing is noted.
        for environment in filter.environment.map({ [$0] }) ?? StoreEnvironment.allCases {
            for access in accesses(to: [customer], in: environment, operation, accessReason) {
                service.accesses.add(access)
            }
        }
        return readerOfCustomer
    }

    static let namesOfAuditors =
        "customers and purchases are named by keys with read or support"

    /// The sequence behind the last event that the caller has; 0: they have none.
    ///
    /// - Throws: `Problem` where the log has no such event.
    func first(_ service: LedgerService) throws -> UInt64 {
        guard let text = query[.after] else { return 0 }
        return try following(text, "after", service)
    }

    /// The same of a stream, which begins at the log's end unless the caller says where they are.
    func firstOfStream(_ service: LedgerService) throws -> UInt64 {
        // A browser says so by the header when it comes again, whatever the address still says.
        if let text = headers[.lastEventID] { return try following(text, "Last-Event-ID", service) }
        return try query[.after] == nil ? service.ledger.questions.size() : first(service)
    }

    private func following(
        _ text: String,
        _ name: String,
        _ service: LedgerService
    ) throws -> UInt64 {
        let sequence = try Query.sequence(text, name)
        guard sequence < (try service.ledger.questions.size()) else {
            throw Problem(.unknownSequence, "the log has no such event", path: name)
        }
        // Fits: it stands below the log's size.
        return sequence + 1
    }

    /// How many events are asked for, at most; nil: it is not said.
    func feedLimit(upTo most: Int) throws(Problem) -> Int? {
        guard let text = query[.limit] else { return nil }
        guard let limit = Int(text), (1...most).contains(limit) else {
            throw Problem(.invalidValue, "expected 1 to \(most)", path: "limit")
        }
        return limit
    }

    /// The same question behind an event, relative to this one (RFC 8288).
    func link(toPageAfter sequence: UInt64) -> String {
        let names: [QueryName] = [
            .limit, .type, .customer, .purchase, .source, .environment, .to, .since, .until, .raw,
        ]
        let others = names.compactMap { name in
            query[name].map { "&\(name.rawValue)=\($0.pathSegment)" }
        }
        return "<?after=\(sequence)\(others.joined())>; rel=\"next\""
    }
}
