import Encodings
import Entitlements
import EventLog
import PostingIndex

/// What decisions at append are made against: the log as it stands, and what was read of it (E4).
struct DecisionReader {
    let pipeline: Pipeline
    let environment: StoreEnvironment
    let size: UInt64
    /// What it names, for who seals what is decided.
    let resolver: StreamResolver
    private var read: [UInt64: UInt64?] = [:]

    init(_ pipeline: Pipeline, _ environment: StoreEnvironment) throws {
        self.pipeline = pipeline
        self.environment = environment
        resolver = StreamResolver(pipeline.vault)
        size = try pipeline.questions.log.end().size
        if pipeline.questions.views.end < size { try pipeline.questions.views.catchUp() }
    }

    /// The streams that the decision relied on, as they stood.
    var expectations: [SealedSubmission.Expectation] {
        read.map { SealedSubmission.Expectation(stream: $0.key, lastSequence: $0.value) }
    }

    private var loader: FactLoader {
        FactLoader(
            log: pipeline.questions.log,
            vault: pipeline.vault,
            views: pipeline.questions.views,
            size: size
        )
    }

    private mutating func note(_ loader: FactLoader) {
        read.merge(loader.lastSequences) { known, _ in known }
    }

    /// The time of asking, as it will be recorded (T3): what was read of others stands before it, also where
    /// it was recorded by a clock that was put back since.
    ///
    /// Of whom nothing was read it is the clock's, so that it counts at once.
    func time(ofAskingAt now: Instant) throws -> Instant {
        let log = pipeline.questions.log
        guard try now.milliseconds < log.end().lastRecordedAt else { return now }
        // A catalog that was published meanwhile is nobody's event.
        let last = read.filter { $0.key != StreamNumber.catalog }.values.compactMap(\.self).max()
        var time = now
        try log.readRecords([last].compactMap(\.self)) { _, record in
            guard !LostRecord.isOne(record) else { return }
            let recordedAt = try RecordHeader(checking: record).recordedAt
            time = max(now, Instant(milliseconds: recordedAt))
        }
        return time
    }

    func stream(_ subject: Subject) throws -> UInt64 {
        try resolver.reserveStream(of: StreamName(subject, in: environment))
    }

    /// The catalogs, which a decision relies on too.
    mutating func catalogs() throws -> CatalogHistory {
        // The last one below the size: what came since must be noticed.
        let entries = try pipeline.questions.views.entries(of: StreamNumber.catalog, below: size)
        read.updateValue(entries.last?.sequence, forKey: StreamNumber.catalog)
        return try pipeline.questions.catalogHistory(size: size)
    }

    /// Facts about a customer.
    mutating func facts(ofCustomer customer: CustomerID) throws -> (stream: UInt64, facts: [Fact]) {
        var loader = loader
        let stream = try stream(.customer(customer))
        let facts = try loader.facts(ofCustomer: stream)
        note(loader)
        return (stream, facts)
    }

    /// Facts of a customer, under any name, that name a grant or a use by its id (C3, C5).
    mutating func facts(naming id: String, of customer: CustomerID) throws -> [Fact] {
        let (stream, facts) = try facts(ofCustomer: customer)
        let canonical = Links(facts, of: .customerLinked).canonical(stream)
        guard let tag = try resolver.keys(of: canonical)?.tag(id) else { return [] }
        return facts.filter { $0.item == tag }
    }

    /// The trials that a customer started, under any name (C4).
    mutating func trials(startedBy customer: CustomerID) throws -> Set<Name> {
        var loader = loader
        let stream = try stream(.customer(customer))
        let facts = try loader.facts(ofCustomer: stream)
        note(loader)
        let links = Links(facts, of: .customerLinked)
        let own = facts.filter {
            $0.kind == .trialStarted
                && links.canonical($0.subject) == links.canonical(stream)
        }
        return Set(texts: own.compactMap { fact in fact.label.map { loader.names.names[$0] } })
    }

    /// Facts about a purchase, under any of its names, and whoever owned it.
    mutating func facts(
        ofPurchase purchase: PurchaseName
    ) throws -> (stream: UInt64, facts: [Fact]) {
        var loader = loader
        let stream = try stream(.purchase(purchase))
        let facts = try loader.facts(ofPurchase: stream)
        note(loader)
        return (stream, facts)
    }

    /// How a purchase is owned (C1).
    mutating func ownership(of purchase: PurchaseName) throws -> PurchaseOwnership {
        let (stream, facts) = try facts(ofPurchase: purchase)
        return try ownership(of: stream, facts)
    }

    /// The links, transfers and erasures of a customer whom something names.
    mutating func facts(
        mentioning customer: CustomerID
    ) throws -> (stream: UInt64, facts: [Fact]) {
        var loader = loader
        let stream = try stream(.customer(customer))
        let facts = try loader.facts(mentioning: stream)
        note(loader)
        return (stream, facts)
    }
}
