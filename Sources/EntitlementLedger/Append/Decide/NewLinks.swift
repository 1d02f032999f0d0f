import Entitlements
import EventLog

/// Those of the links that a signal proposes which are not known (Stores, rule 7; C2).
///
/// A link that is recorded again changes no answer: the look saves room, and an event that comes
/// meanwhile makes nobody decide again.
struct NewLinks {
    private let pipeline: Pipeline
    private let resolver: StreamResolver
    private let batch: BatchLinks

    /// What is looked for.
    ///
    /// `resolver`: the decision's. `batch`: those that stand already in what is handed in with the
    /// signal; nil: it is alone.
    init(_ pipeline: Pipeline, _ resolver: StreamResolver, besides batch: BatchLinks? = nil) {
        self.pipeline = pipeline
        self.resolver = resolver
        self.batch = batch ?? BatchLinks()
    }

    /// The links that are to be recorded, each alias once.
    func proposals(of submission: Submission) throws -> [LinkProposal] {
        var met: Set<CustomerID> = []
        return try submission.links.filter { link in
            try link.customer != link.alias && met.insert(link.alias).inserted
                && !isKnown(link, in: submission.environment)
        }
    }

    /// Notes those of a submission that is sealed, whose names are reserved by now.
    func noteSealed(_ links: [LinkProposal], in environment: StoreEnvironment) throws {
        for link in links {
            guard let alias = try stream(link.alias, environment),
                let customer = try stream(link.customer, environment)
            else { continue }
            batch.add(customer, of: alias)
        }
    }

    private func stream(_ name: CustomerID, _ environment: StoreEnvironment) throws -> UInt64? {
        try resolver.stream(of: StreamName(.customer(name), in: environment))
    }

    /// Whether both names lead to one customer, by what stands in the batch and behind it in the log.
    private func isKnown(
        _ link: LinkProposal,
        in environment: StoreEnvironment
    ) throws -> Bool {
        guard let customer = try stream(link.customer, environment),
            let alias = try stream(link.alias, environment)
        else { return false }
        // The usual case, in which the log need not be looked at.
        if batch.customer(of: alias) == customer { return true }
        let (way, other) = (try self.way(from: alias), try self.way(from: customer))
        guard way.last == other.last else { return false }
        batch.rely(on: way)
        batch.rely(on: other)
        return true
    }

    /// A name and those to which its links lead, in their order.
    private func way(from name: UInt64) throws -> [UInt64] {
        var way = [name]
        // A circle would be of links that others recorded meanwhile; the fold passes over it.
        while let next = try target(of: way[way.count - 1]), !way.contains(next) {
            way.append(next)
        }
        return way
    }

    private func target(of name: UInt64) throws -> UInt64? {
        if let next = batch.customer(of: name) { return next }
        if let known = batch.recorded(of: name) { return known }
        let questions = pipeline.questions
        let size = try questions.log.end().size
        if questions.views.end < size { try questions.views.catchUp() }
        var loader = FactLoader(
            log: questions.log,
            vault: pipeline.vault,
            views: questions.views,
            size: size
        )
        // The name's own way to the end: whatever else links to it changes nothing.
        let links = Links(try loader.facts(mentioning: name), of: .customerLinked)
        var name = name
        let first = links.target(of: name)
        while true {
            let next = links.target(of: name)
            batch.note(recorded: next, of: name)
            guard let next else { return first }
            name = next
        }
    }
}

extension EventDraft {
    /// What records a link that a signal proposes.
    init(_ link: LinkProposal) {
        self.init(
            subject: .customer(link.customer),
            time: link.time,
            observedAt: link.observedAt,
            data: EventData(.customerLinked, [.alias: .text(link.alias.text)])
        )
    }
}
