import Encodings
import Entitlements
import EventLog

/// Decides the claims and links that a signal proposes (Stores, rule 7; E4).
struct SignalDecision {
    /// The signal's own events, then those that were decided.
    private(set) var events: [Event]
    private(set) var reader: DecisionReader
    private let submission: Submission

    /// The name of the signal that notes a refused claim on its purchase.
    static let refusedClaim = "claim_refused"

    /// `reader`: of the submission's environment.
    init(_ submission: Submission, _ reader: DecisionReader) throws {
        self.submission = submission
        events = submission.events
        self.reader = reader
        for link in submission.links { try decide(link) }
        for claim in submission.claims { try decide(claim) }
    }

    /// A link is recorded unless both names are one customer's already (C2).
    private mutating func decide(_ link: LinkProposal) throws {
        guard link.customer != link.alias else { return }
        let (customer, known) = try reader.facts(ofCustomer: link.customer)
        let (alias, aliasKnown) = try reader.facts(ofCustomer: link.alias)
        let links = Links(merged(known, aliasKnown), of: .customerLinked)
        if links.canonical(customer) == links.canonical(alias) { return }
        let isProposed = events.contains { event in
            event.kind == .customerLinked && event.data[.alias] == .text(link.alias.text)
        }
        if isProposed { return }
        events.append(
            event(
                .customer(link.customer),
                link.time,
                link.observedAt,
                EventData(.customerLinked, [.alias: .text(link.alias.text)])
            )
        )
    }

    private func merged(_ left: [Fact], _ right: [Fact]) -> [Fact] {
        let known = Set(left.map(\.sequence))
        return (left + right.filter { !known.contains($0.sequence) })
            .sorted { $0.sequence < $1.sequence }
    }

    /// A claim is recorded once for each purchase and token, and not for its owner (C1).
    private mutating func decide(_ claim: ClaimProposal) throws {
        let ownership = try reader.ownership(of: claim.purchase)
        let customer = try reader.stream(.customer(claim.customer))
        if ownership.wasClaimed(by: customer) { return }
        // A link that this signal makes may name the owner.
        let linked = submission.links.filter { $0.customer == claim.customer }
        for link in linked {
            let alias = try reader.stream(.customer(link.alias))
            if ownership.owner == ownership.customers.canonical(alias) { return }
        }
        switch try reader.right(of: customer, to: ownership, at: reader.appender.clock()) {
        case .isOwner: return
        case .mayClaim: break
        case .ownedByAnother:
            events.append(
                event(
                    .purchase(claim.purchase),
                    claim.transactionStart,
                    claim.observedAt,
                    EventData(.signalNoted, [.name: .text(Self.refusedClaim)])
                )
            )
            return
        }
        let time = ownership.claims.isEmpty ? claim.purchasedAt : claim.transactionStart
        events.append(
            event(
                .customer(claim.customer),
                time,
                claim.observedAt,
                EventData(.customerClaimed, [.purchase: .text(claim.purchase.description)])
            )
        )
    }

    private func event(
        _ subject: Subject,
        _ time: Instant,
        _ observedAt: Instant,
        _ data: EventData
    ) -> Event {
        Event(
            id: submission.id,
            source: submission.source,
            subject: subject,
            time: time,
            observedAt: observedAt,
            environment: submission.environment,
            data: data
        )
    }
}
