import Crypto
package import Encodings
public import Entitlements
import EventLog
public import LedgerAPI
import PostingIndex

/// A question about a customer.
public struct CustomerQuestion: Sendable, Hashable {
    /// Any of the customer's names.
    public var customer: CustomerID
    /// The environment that is asked about.
    public var environment: StoreEnvironment
    /// T and R.
    public var point: BitemporalPoint
    /// Who is answered.
    public var visibility: Visibility

    /// Makes a question.
    public init(
        customer: CustomerID,
        environment: StoreEnvironment,
        point: BitemporalPoint,
        visibility: Visibility = .everything
    ) {
        self.customer = customer
        self.environment = environment
        self.point = point
        self.visibility = visibility
    }
}

extension Questions {
    /// The size of the prefix that is known at R (T4).
    ///
    /// Cost: O(log n) record reads for an instant.
    public func prefix(knownAt known: BitemporalPoint.Known) throws -> UInt64 {
        let size = try log.end().size
        switch known {
        case .everything: return size
        case .sequence(let count):
            guard count <= size else {
                throw LedgerFault(
                    .unknownSequence,
                    "the log has \(size) events, \(count) were asked for"
                )
            }
            return count
        case .instant(let instant): return try log.size(recordedBy: instant, upTo: size)
        }
    }

    /// A customer over effective time, from the first `size` events.
    package func timeline(
        of customer: CustomerID,
        environment: StoreEnvironment,
        size: UInt64
    ) throws -> CustomerTimeline {
        try loadTimeline(of: customer, environment: environment, size: size).timeline
    }

    /// A customer's timeline and the streams that it was read from: an event that could change it
    /// is recorded under one of them.
    func loadTimeline(
        of customer: CustomerID,
        environment: StoreEnvironment,
        size: UInt64
    ) throws -> (timeline: CustomerTimeline, streams: [UInt64]) {
        let loaded = try loadFacts(of: customer, environment: environment, size: size)
        return (loaded.timeline, loaded.streams)
    }

    /// The timeline of a customer by their number.
    ///
    /// `customer`: the name that was asked for; nil: the vault tells it.
    func loadTimeline(
        ofStream stream: UInt64,
        asked customer: CustomerID? = nil,
        size: UInt64
    ) throws -> (timeline: CustomerTimeline, streams: [UInt64]) {
        let loaded = try loadFacts(ofStream: stream, asked: customer, size: size)
        return (loaded.timeline, loaded.streams)
    }

    /// What a timeline is folded from.
    struct LoadedFacts {
        /// The number of the name that was asked for; `.max` for one of whom nothing was recorded.
        var asked: UInt64
        var facts: [Fact]
        var names: FactNames
        var catalogs: CatalogHistory
        /// K8's x for each experiment.
        var positions: [Name: UInt64]
        /// The streams that were read.
        var streams: [UInt64]
        /// Events whose signal was recorded before (E1).
        var repeated: [UInt64]
        /// Whether anything was ever recorded of the customer.
        var isSeen: Bool

        /// The customer over effective time.
        var timeline: CustomerTimeline {
            CustomerTimeline(
                of: asked,
                facts: facts,
                names: names,
                catalogs: catalogs,
                position: { positions[$0] ?? 0 }
            )
        }
    }

    /// Reads what the timeline of a customer is folded from.
    func loadFacts(
        of customer: CustomerID,
        environment: StoreEnvironment,
        size: UInt64
    ) throws -> LoadedFacts {
        // Another process may have erased the customer: the views tell, before the name is looked up.
        if views.end < size { try views.catchUp() }
        let name = StreamName(.customer(customer), in: environment)
        return try loadFacts(ofStream: vault.stream(of: name), asked: customer, size: size)
    }

    /// Reads what the timeline of a customer is folded from.
    ///
    /// `stream`: nil for one of whom nothing was recorded.
    ///
    /// `customer`: the name that was asked for; nil: the vault tells it.
    func loadFacts(
        ofStream stream: UInt64?,
        asked customer: CustomerID? = nil,
        size: UInt64
    ) throws -> LoadedFacts {
        if views.end < size { try views.catchUp() }
        var loader = FactLoader(log: log, vault: vault, views: views, size: size)
        let facts = try stream.map { try loader.facts(ofCustomer: $0) } ?? []
        let catalogs = try catalogHistory(size: size)
        let canonical = Links(facts, of: .customerLinked)
            .canonical(stream ?? .max)
        return LoadedFacts(
            asked: stream ?? .max,
            facts: facts,
            names: loader.names.names,
            catalogs: catalogs,
            positions: try positions(of: canonical, asked: customer, in: catalogs),
            streams: Array(loader.lastSequences.keys),
            repeated: loader.repeated,
            isSeen: loader.isSeen
        )
    }

    /// The catalogs of a prefix.
    package func catalogHistory(size: UInt64) throws -> CatalogHistory {
        if views.end < size { try views.catchUp() }
        return try catalogs.history(size: size, in: views)
    }

    /// K8: where a customer stands in each experiment.
    ///
    /// `asked`: the name of one whom the vault does not know.
    func positions(
        of canonical: UInt64,
        asked: CustomerID? = nil,
        in catalogs: CatalogHistory
    ) throws -> [Name: UInt64] {
        let experiments = catalogs.experiments
        guard !experiments.isEmpty else { return [:] }
        let customer = try vault.customer(of: canonical) ?? asked
        var positions: [Name: UInt64] = [:]
        for experiment in experiments {
            let digest = SHA256.hash(
                data: Array(experiment.text.utf8) + [0] + Array((customer?.text ?? "").utf8)
            )
            positions[experiment] = digest.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
        }
        return positions
    }

    /// The state of a customer.
    public func show(_ question: CustomerQuestion) throws -> Written<StateAnswer> {
        try show(question, size: prefix(knownAt: question.point.knownAt))
    }

    func show(
        _ question: CustomerQuestion,
        size: UInt64,
        rules: UInt16 = RulesVersion.current
    ) throws -> Written<StateAnswer> {
        let state = try state(question, size: size)
        let names = RecordedNames(self)
        return try written(
            .state,
            question,
            size: size,
            rules: rules,
            StateAnswer(
                question.echo(size: size),
                StateContent(state, names: names, rules: rules)
            )
        )
    }

    /// The state of a customer as it may be shown.
    func state(_ question: CustomerQuestion, size: UInt64) throws -> CustomerState {
        let loaded = try loadFacts(
            of: question.customer,
            environment: question.environment,
            size: size
        )
        let timeline = loaded.timeline
        let view = CustomerView(question.visibility, of: timeline, loaded.facts)
        var state = timeline.state(at: question.point.at)
        if !loaded.isSeen { state.warnings.append(.neverSeen) }
        if let knownLoss, try knownLoss.concerns(prefix: size, isEnd: size == log.end().size) {
            state.warnings.append(.eventsLost)
        }
        return view.shown(state)
    }

    /// Access to one feature, with what to buy where the gate is closed (row 4.4).
    public func accessAnswer(
        _ feature: String,
        _ question: CustomerQuestion
    ) throws -> Written<AccessAnswer> {
        try accessAnswer(
            feature,
            question,
            size: prefix(knownAt: question.point.knownAt)
        )
    }

    func accessAnswer(
        _ feature: String,
        _ question: CustomerQuestion,
        size: UInt64,
        rules: UInt16 = RulesVersion.current
    ) throws -> Written<AccessAnswer> {
        let timeline = try timeline(
            of: question.customer,
            environment: question.environment,
            size: size
        )
        return try accessAnswer(
            feature,
            question,
            size: size,
            rules: rules,
            timeline.state(at: question.point.at),
            catalog: timeline.catalogs.catalog(at: question.point.at)
        )
    }

    /// The same of a state that has been folded, with the catalog in force.
    func accessAnswer(
        _ feature: String,
        _ question: CustomerQuestion,
        size: UInt64,
        rules: UInt16 = RulesVersion.current,
        _ state: CustomerState,
        catalog: Catalog?
    ) throws -> Written<AccessAnswer> {
        try written(
            .access,
            question,
            size: size,
            feature: feature,
            rules: rules,
            AccessAnswer(
                question.echo(size: size),
                feature: feature,
                AccessDecision(
                    state.features.first { $0.id.isSame(as: feature) },
                    named: feature,
                    validUntil: state.validUntil,
                    gates: catalog.map { GateMap($0) },
                    names: RecordedNames(self)
                )
            )
        )
    }

    /// Whether a catalog that was known at a point lists a feature, in force or not (K1).
    public func isListed(_ feature: String, at point: BitemporalPoint) throws -> Bool {
        try catalogHistory(size: prefix(knownAt: point.knownAt)).featureIDs.contains(feature)
    }

    /// Names for answers about this questions.
    package var names: some AnswerNames { RecordedNames(self) }
}

extension CustomerQuestion {
    /// What every answer about a customer begins with.
    func echo(size: UInt64) -> QuestionEcho {
        var known: Instant?
        if case .instant(let instant) = point.knownAt { known = instant }
        return QuestionEcho(
            customer: customer.text,
            environment: environment,
            at: point.at,
            known: known,
            sequence: size
        )
    }
}

/// Reads names from vault and records, each purchase's once an answer; what is erased shows its
/// number only (C6).
final class RecordedNames: AnswerNames {
    private let questions: Questions
    private var purchaseNames: [UInt64: String] = [:]

    init(_ questions: Questions) { self.questions = questions }

    func purchaseName(_ number: UInt64) throws -> String {
        if let name = purchaseNames[number] { return name }
        let name = try recordedName(number)
        purchaseNames[number] = name
        return name
    }

    private func recordedName(_ number: UInt64) throws -> String {
        guard let subject = try questions.vault.name(of: number)?.subject,
            case .purchase(let name)? = Subject(subject)
        else { return "erased/\(number)" }
        return name.description
    }

    func grantID(givenAt sequence: UInt64) throws -> String {
        var id: String?
        let opener = EventOpener(vault: questions.vault, log: questions.log)
        try questions.log.readRecords([sequence]) { _, record in
            id = try opener.id(.grantID, of: record, RecordHeader(checking: record))
        }
        return id ?? "erased/\(sequence)"
    }
}

extension Questions {
    /// The catalog document in force at a point, as it was published; nil: there is none (K1).
    package func catalogDocument(at point: BitemporalPoint) throws -> JSONValue? {
        let history = try catalogHistory(size: prefix(knownAt: point.knownAt))
        guard let index = history.index(at: point.at) else { return nil }
        return try event(at: history.publications[index].sequence)?.event.data.document
    }

    /// Every catalog that was published, with from when on it is in force, in their order.
    ///
    /// Cost: a record for each.
    package func publishedCatalogs() throws -> [(document: JSONValue, effective: Instant)] {
        try catalogHistory(size: log.end().size).publications
            .sorted { $0.sequence < $1.sequence }
            .compactMap { publication in
                try event(at: publication.sequence)?.event.data.document
                    .map { (document: $0, effective: publication.time) }
            }
    }

    /// Where a request was recorded (E1); nil: never.
    func sequence(of request: Request) throws -> UInt64? {
        try sequence(
            ofSignal: request.id,
            source: request.source,
            environment: request.environment
        )
    }

    /// Where a signal was recorded (E1); nil: never.
    func sequence(
        ofSignal id: String,
        source: String,
        environment: StoreEnvironment
    ) throws -> UInt64? {
        try views.sequence(
            of: vault.digestSecret.signal(
                environment: environment.rawValue,
                source: source,
                id: id
            )
        )
    }

    /// Whether any event names a purchase.
    public func isKnown(
        _ purchase: PurchaseName,
        environment: StoreEnvironment
    ) throws -> Bool {
        let name = StreamName(.purchase(purchase), in: environment)
        guard let stream = try vault.stream(of: name) else { return false }
        return try views.lastSequence(of: stream) != nil
    }
}
