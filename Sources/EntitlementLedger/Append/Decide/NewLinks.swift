import Entitlements
import EventLog
import Synchronization

/// Those of the links that a signal proposes which are not known (Stores, rule 7; C2).
///
/// A link that is recorded again changes no answer, so that nothing rests on this look: it saves
/// room, and an event that comes meanwhile makes nobody decide again.
struct NewLinks {
    private let pipeline: Pipeline
    private let resolver: StreamResolver
    private let batch: BatchLinks?

    /// What is looked for.
    ///
    /// `resolver`: the decision's. `batch`: those that stand already in what is handed in with the
    /// signal.
    init(_ pipeline: Pipeline, _ resolver: StreamResolver, besides batch: BatchLinks? = nil) {
        self.pipeline = pipeline
        self.resolver = resolver
        self.batch = batch
    }

    /// The links as drafts of the signal, each once.
    func drafts(of submission: Submission) throws -> [EventDraft] {
        guard !submission.links.isEmpty else { return [] }
        var met: Set<CustomerID> = []
        return try submission.links.compactMap { link in
            guard link.customer != link.alias, met.insert(link.alias).inserted,
                try !stands(link, in: submission.environment)
            else { return nil }
            return EventDraft(
                subject: .customer(link.customer),
                time: link.time,
                observedAt: link.observedAt,
                data: EventData(.customerLinked, [.alias: .text(link.alias.text)])
            )
        }
    }

    /// Whether the link stands in the batch, or where that has none of its alias, in the log.
    private func stands(_ link: LinkProposal, in environment: StoreEnvironment) throws -> Bool {
        if let customer = batch?.customer(of: link.alias, in: environment) {
            return customer == link.customer
        }
        return try isKnown(link, in: environment)
    }

    /// Whether both are known to name one customer.
    private func isKnown(_ link: LinkProposal, in environment: StoreEnvironment) throws -> Bool {
        let questions = pipeline.questions
        func stream(_ customer: CustomerID) throws -> UInt64? {
            try resolver.stream(of: StreamName(.customer(customer), in: environment))
        }
        guard let customer = try stream(link.customer), let alias = try stream(link.alias) else {
            return false
        }
        let size = try questions.log.end().size
        if questions.views.end < size { try questions.views.catchUp() }
        var loader = FactLoader(
            log: questions.log,
            vault: pipeline.vault,
            views: questions.views,
            size: size
        )
        // The alias's own way to the end: whatever else links to either changes nothing.
        let links = Links(try loader.facts(mentioning: alias), of: .customerLinked)
        return links.canonical(alias) == links.canonical(customer)
    }
}

/// The links of a batch's submissions that are sealed: the next ones that propose the same leave it
/// out, for they are recorded behind these or not at all.
package final class BatchLinks: Sendable {
    /// Whom the last link of each alias names.
    private let sealed = Mutex<[Alias: CustomerID]>([:])

    private struct Alias: Hashable {
        var environment: StoreEnvironment
        var name: CustomerID
    }

    /// Those of a new batch.
    package init() {}

    func customer(of alias: CustomerID, in environment: StoreEnvironment) -> CustomerID? {
        let alias = Alias(environment: environment, name: alias)
        return sealed.withLock { $0[alias] }
    }

    /// Adds those of a submission that is sealed.
    func add(_ submission: Submission) {
        guard !submission.links.isEmpty else { return }
        sealed.withLock { sealed in
            for link in submission.links {
                let alias = Alias(environment: submission.environment, name: link.alias)
                sealed[alias] = link.customer
            }
        }
    }
}
