import Entitlements
import EventLog

/// Those of the links that a signal proposes which are not known (Stores, rule 7; C2).
///
/// A link that is recorded again changes no answer, so that nothing rests on this look: it saves
/// room, and an event that comes meanwhile makes nobody decide again.
struct NewLinks {
    private let appender: Appender

    init(_ appender: Appender) { self.appender = appender }

    /// The links as events of the signal, each once.
    func events(of submission: Submission) throws -> [Event] {
        guard !submission.links.isEmpty else { return [] }
        var met: Set<CustomerID> = []
        return try submission.links.compactMap { link in
            guard link.customer != link.alias, met.insert(link.alias).inserted,
                try !isKnown(link, in: submission.environment)
            else { return nil }
            return Event(
                id: submission.id,
                source: submission.source,
                subject: .customer(link.customer),
                time: link.time,
                observedAt: link.observedAt,
                environment: submission.environment,
                data: EventData(.customerLinked, [.alias: .text(link.alias.text)])
            )
        }
    }

    /// Whether both are known to name one customer.
    private func isKnown(_ link: LinkProposal, in environment: StoreEnvironment) throws -> Bool {
        let (questions, vault) = (appender.questions, appender.vault)
        func stream(_ customer: CustomerID) throws -> UInt64? {
            try vault.stream(of: StreamName(.customer(customer), in: environment))
        }
        guard let customer = try stream(link.customer), let alias = try stream(link.alias) else {
            return false
        }
        let size = try questions.log.end().size
        if questions.views.end < size { try questions.views.catchUp() }
        var loader = FactLoader(
            log: questions.log,
            vault: vault,
            views: questions.views,
            size: size
        )
        // The alias's own way to the end: whatever else links to either changes nothing.
        let links = Links(try loader.facts(mentioning: alias), of: .customerLinked)
        return links.canonical(alias) == links.canonical(customer)
    }
}
