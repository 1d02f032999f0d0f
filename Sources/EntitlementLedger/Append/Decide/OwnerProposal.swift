public import Entitlements
import EventLog

/// What support asks for about who owns one purchase, decided against the log (Stores, rule 7; E4).
///
/// `policy.claim` is not asked: it decides what customers ask for themselves.
struct OwnerProposal: Proposal {
    let request: Request
    let purchase: PurchaseName
    let change: OwnerChange
    /// Why, in support's words.
    let reason: String

    func signal(in pipeline: Pipeline) -> SignalDigest { pipeline.signal(of: request) }

    func decision(
        in pipeline: Pipeline,
        as signal: SignalDigest,
        after earlier: UInt64?
    ) throws -> Decision<OwnerOutcome> {
        if let earlier { return .settled(OwnerOutcome(try repeated(at: earlier, pipeline))) }
        var reader = try DecisionReader(pipeline, request.environment)
        // Looked up, not reserved: a name that is mistyped leaves nothing behind.
        let isKnown = try pipeline.questions.isKnown(purchase, environment: request.environment)
        guard isKnown else { return .settled(OwnerOutcome(.refused(.unknownPurchase))) }
        let (now, ownership) = (try pipeline.timeOfAsking(), try reader.ownership(of: purchase))
        let owner = ownership.owner(at: now)
        // Who was erased has no name that a release could be about: nobody owns it who is known.
        let former = try owner.flatMap { try pipeline.vault.customer(of: $0) }
        var drafts = drafts(askedAt: now)
        switch change {
        case .transfer(let customer):
            let stream = try reader.stream(.customer(customer))
            if owner == ownership.customers.canonical(stream) {
                return .settled(OwnerOutcome(.known))
            }
        case .release:
            guard let former else { return .settled(OwnerOutcome(.known)) }
            drafts.append(draft(.customerReleased, of: former, at: now))
        }
        return Decision(
            try pipeline.sealer.seal(
                request.submission(of: drafts),
                signal: signal,
                expectations: reader.expectations,
                resolver: reader.resolver
            ),
            from: former
        )
    }

    /// What follows from the request alone: why, and for whom.
    ///
    /// One claim moves a purchase, whoever owned it (C1): a release before it would change nothing.
    private func drafts(askedAt time: Instant) -> [EventDraft] {
        let note = EventDraft(
            subject: .purchase(purchase),
            time: time,
            data: EventData(
                .signalNoted,
                [.name: .text(change.noteName), .detail: .text(reason)]
            )
        )
        switch change {
        case .transfer(let customer):
            return [note, draft(.customerClaimed, of: customer, at: time)]
        case .release: return [note]
        }
    }

    private func draft(
        _ kind: EventKind,
        of customer: CustomerID,
        at time: Instant
    ) -> EventDraft {
        EventDraft(
            subject: .customer(customer),
            time: time,
            data: EventData(kind, [.purchase: .text(purchase.description)])
        )
    }

    /// What follows from the request is held against what stands under its id (E1); whose the
    /// purchase was is no part of it.
    private func repeated(at first: UInt64, _ pipeline: Pipeline) throws -> Receipt {
        let receipt = try pipeline.repeated(at: first) { drafts(askedAt: $0)[0] }
        guard case .transfer = change, case .duplicate = receipt else { return receipt }
        // Fits: a log's size has 64 bits.
        let second = first + 1
        // Somebody may have recorded the note alone under this id.
        guard try second < pipeline.questions.size() else {
            return .refused(.conflict(in: "subject", with: first))
        }
        let claim = try pipeline.repeated(at: second) { drafts(askedAt: $0)[1] }
        if case .refused = claim { return claim }
        return receipt
    }
}

/// How support changes who owns a purchase.
enum OwnerChange: Sendable {
    /// A customer owns it from now on.
    case transfer(to: CustomerID)
    /// Nobody does.
    case release

    /// The `name` of the event that keeps the reason.
    var noteName: String {
        switch self {
        case .transfer: "purchase_transferred"
        case .release: "purchase_released"
        }
    }
}

/// What became of a transfer or a release.
public struct OwnerOutcome: Sendable, Equatable {
    /// What became of the request.
    public var receipt: Receipt
    /// Who owned the purchase until then; nil: nobody, or nothing was changed by this call.
    public var formerOwner: CustomerID?

    init(_ receipt: Receipt, from owner: CustomerID? = nil) {
        self.receipt = receipt
        formerOwner = owner
    }
}

extension Decision where Outcome == OwnerOutcome {
    fileprivate init(_ decided: Decided<SealedSubmission>, from owner: CustomerID?) {
        switch Decision<Receipt>(decided) {
        case .settled(let receipt), .unchanged(let receipt, _):
            self = .settled(OwnerOutcome(receipt))
        case .sealed(let submission, let outcome):
            self = .sealed(submission) { appended in
                let receipt = try outcome(appended)
                guard case .appended = receipt else { return OwnerOutcome(receipt) }
                return OwnerOutcome(receipt, from: owner)
            }
        }
    }
}

extension Refusal {
    /// No event names it.
    static let unknownPurchase = Refusal(
        .unknownPurchase,
        "purchase",
        "no event has named this purchase"
    )
}
