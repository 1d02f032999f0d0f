import Encodings
public import Entitlements
import EventLog
public import LedgerAPI

/// The streams that one customer's erasure takes in one environment, the customer's first; never
/// empty.
struct ErasureScope {
    let environment: StoreEnvironment
    var streams: [UInt64]
    /// Evidence to be deleted, by the records that it is attached to.
    var evidence: [UInt64] = []

    /// What goes, the customer's stream first.
    init(environment: StoreEnvironment, streams: [UInt64]) {
        self.environment = environment
        self.streams = streams
    }

    /// nil for a customer whom the environment does not know.
    ///
    /// `taken`: streams that go already.
    init?(
        of customer: CustomerID,
        _ environment: StoreEnvironment,
        _ questions: Questions,
        size: UInt64,
        without taken: Set<UInt64>
    ) throws {
        self.environment = environment
        let name = StreamName(.customer(customer), in: environment)
        guard let stream = try questions.vault.stream(of: name), !taken.contains(stream) else {
            return nil
        }
        var loader = FactLoader(
            log: questions.log,
            vault: questions.vault,
            views: questions.views,
            size: size
        )
        let facts = try loader.facts(ofCustomer: stream)
        let found =
            try Self.merged(with: stream, facts, of: .customerLinked)
            + Self.purchases(ownedBy: stream, facts, questions.catalogHistory(size: size))
        var met = taken
        streams = try found.filter { stream in
            // One that was erased before is no concern of this erasure.
            try met.insert(stream).inserted && questions.vault.name(of: stream) != nil
        }
        guard streams.first == stream else { return nil }
    }

    /// A stream and all that links make one with it (C2, P13), itself first.
    private static func merged(
        with stream: UInt64,
        _ facts: [Fact],
        of kind: EventKind
    ) -> [UInt64] {
        let links = Links(facts, of: kind)
        let canonical = links.canonical(stream)
        let linked = facts.filter { $0.kind == kind }
            .flatMap { [$0.subject] + ($0.other.map { [$0] } ?? []) }
        return [stream] + linked.filter { links.canonical($0) == canonical }
    }

    private static func purchases(
        ownedBy customer: UInt64,
        _ facts: [Fact],
        _ catalogs: CatalogHistory
    ) -> [UInt64] {
        let owners = OwnerFacts(facts, catalogs: catalogs)
        let canonical = owners.customers.canonical(customer)
        var owned: [UInt64] = []
        owners.forEach { purchase, ownership in
            guard ownership.last == canonical else { return }
            owned += merged(with: purchase, facts, of: .purchaseLinked)
        }
        return owned
    }
}

extension Eraser {
    /// What an erasure of customers would take, as things stand; evidence is not looked at.
    ///
    /// - Throws: `LogStorageFault`. Cost: as `show` of each, in each environment.
    public func plannedErasure(of customers: [CustomerID]) throws -> ErasurePlanAnswer {
        try plannedErasure(of: customers, reading: nil)
    }

    /// What an erasure of customers would take, as things stand.
    ///
    /// Somebody of whom nothing is known but what evidence says, or what waits in quarantine, is not unknown,
    /// and has no stream: the erasure gives them one.
    ///
    /// `reading`: tells whom evidence names; nil: it is not looked at.
    ///
    /// - Throws: `LogStorageFault`, `LedgerOpenFault`, `FileFault`.
    ///
    /// Cost: as `show` of each, in each environment; for those who have no stream, what waits in quarantine is
    /// read, and the evidence that names very many.
    package func plannedErasure(
        of customers: [CustomerID],
        reading names: (any EvidenceNames)?
    ) throws -> ErasurePlanAnswer {
        let (vault, views, size) = (questions.vault, questions.views, try questions.size())
        if views.end < size { try views.catchUp() }
        let (scopes, unknown) = try erasureScopes(of: customers, size: size)
        let streams = try scopes.flatMap { scope in
            try scope.streams.compactMap { number -> ErasurePlanAnswer.Stream? in
                guard let name = try vault.name(of: number), let subject = Subject(name.subject)
                else { return nil }
                return ErasurePlanAnswer.Stream(
                    subject: subject,
                    environment: scope.environment,
                    number: number,
                    events: try views.entries(of: number, below: size).count
                )
            }
        }
        let mentioned = try mentioned(unknown, beside: scopes, names, size: size)
        return ErasurePlanAnswer(
            streams: streams,
            unknown: unknown.filter {
                !mentioned.contains(Name(Subject.customer($0).description))
            }
            .map(\.text)
        )
    }

    /// Subjects that evidence names, or something in quarantine; among them all of some customers without a
    /// stream of whom that is so.
    private func mentioned(
        _ customers: [CustomerID],
        beside scopes: [ErasureScope],
        _ names: (any EvidenceNames)?,
        size: UInt64
    ) throws -> Set<Name> {
        guard !customers.isEmpty else { return [] }
        let vault = try opened.whole
        let waiting = try vault.quarantined(customers.map { Subject.customer($0).description })
        let quarantined = Set(texts: waiting)
        guard let names else { return quarantined }
        let search = try EvidenceSearch(
            questions,
            vault,
            names,
            for: customers,
            scopes,
            size: size
        )
        return quarantined.union(Set(texts: try search.named().map(\.subject)))
    }

    func erasureScopes(
        of customers: [CustomerID],
        size: UInt64
    ) throws -> (scopes: [ErasureScope], unknown: [CustomerID]) {
        var taken: Set<UInt64> = []
        var scopes: [ErasureScope] = []
        var unknown: [CustomerID] = []
        for customer in customers {
            var isKnown = false
            for environment in StoreEnvironment.allCases {
                // Somebody who was named before goes by this name, too.
                let name = StreamName(.customer(customer), in: environment)
                if let stream = try questions.vault.stream(of: name), taken.contains(stream) {
                    isKnown = true
                }
                guard
                    let scope = try ErasureScope(
                        of: customer,
                        environment,
                        questions,
                        size: size,
                        without: taken
                    )
                else { continue }
                taken.formUnion(scope.streams)
                scopes.append(scope)
                isKnown = true
            }
            if !isKnown { unknown.append(customer) }
        }
        return (scopes, unknown)
    }
}
