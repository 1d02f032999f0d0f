import Entitlements
import EventLog

/// A verified transaction that a customer hands in, with the claim to its purchase, which stand
/// together or not at all (row 2.3, E2).
struct ClaimProposal: Proposal {
    let transaction: VerifiedTransaction
    /// What its purchase is one product of: whoever owns that, or what it replaced, owns this (P13); nil: it is
    /// all that was bought.
    var whole: PurchaseName?
    let customer: CustomerID
    let request: Request

    func signal(in pipeline: Pipeline) -> SignalDigest { pipeline.signal(of: recordedRequest) }

    func decision(
        in pipeline: Pipeline,
        as signal: SignalDigest,
        after earlier: UInt64?
    ) throws -> Decision<ClaimOutcome> {
        var decision = try ClaimDecision(self, pipeline)
        return try decision.made(after: earlier)
    }

    /// The claim's request, in the transaction's environment whatever was asked for.
    fileprivate var recordedRequest: Request {
        Request(
            id: request.id,
            source: request.source,
            environment: transaction.facts.environment
        )
    }
}

/// Decides what a customer hands in.
///
/// The claim is the request's, not the store's: it stands under the request's source and id, with
/// the time of asking (Stores, rule 7), behind the facts of the store's signal. So each signal
/// keeps its own idempotency (E1). That the store was heard stands with it (P11).
private struct ClaimDecision {
    private let pipeline: Pipeline
    private let transaction: VerifiedTransaction
    private let whole: PurchaseName?
    private let customer: CustomerID
    private let request: Request
    private var now: Instant
    /// Where the facts' signal was recorded before; nil: nowhere.
    private let factsSequence: UInt64?
    private var reader: DecisionReader

    /// A client in a loop updates a purchase's sync state at most so often (row 6.3).
    private static let syncIntervalMilliseconds: Int64 = 3_600_000

    init(_ proposal: ClaimProposal, _ pipeline: Pipeline) throws {
        self.pipeline = pipeline
        transaction = proposal.transaction
        whole = proposal.whole
        customer = proposal.customer
        request = proposal.recordedRequest
        // Looked up before the reader takes its prefix: what is known here, it sees too.
        factsSequence = try pipeline.sequence(of: pipeline.signal(of: transaction.facts))
        reader = try DecisionReader(pipeline, transaction.facts.environment)
        now = pipeline.clock()
    }

    /// Decides against the log as it stands.
    ///
    /// `earlier`: where the request was recorded before; nil: nowhere.
    mutating func made(after earlier: UInt64?) throws -> Decision<ClaimOutcome> {
        if let refusal = transaction.facts.refusal {
            return .settled(.refused(refusal, owner: nil))
        }
        // The claim that this request made before, or something else under its id (E1).
        if let earlier,
            case .refused(let refusal) = try pipeline.repeated(at: earlier, asking: claim)
        {
            return .settled(.refused(refusal, owner: nil))
        }
        return try decide(after: earlier)
    }

    /// `earlier`: the claim that this request made before; nil: none.
    private mutating func decide(after earlier: UInt64?) throws -> Decision<ClaimOutcome> {
        let facts = transaction.facts
        var sequence = factsSequence
        let (stream, known) = try reader.facts(ofPurchase: transaction.purchase)
        now = try reader.time(ofAskingAt: now)
        let restated = try RestatedFacts(ofPurchase: stream, known, pipeline)
        // Of several products each is held against what is known of it.
        let own =
            whole == nil
            ? facts.drafts : facts.drafts.filter { $0.subject == .purchase(transaction.purchase) }
        if sequence == nil { sequence = try restated.sequence(ofSame: own) }
        var drafts: [EventDraft] = []
        if sequence == nil {
            let links = try NewLinks(pipeline, reader.resolver).proposals(of: facts)
            drafts = facts.drafts + links.map(EventDraft.init)
        }
        // Whom the store names comes before the customer's word.
        let ownership = try reader.ownership(of: stream, known, after: drafts)
        // Looked up, not reserved: who is refused leaves nothing behind.
        let claimant = try reader.resolver.stream(
            of: StreamName(.customer(customer), in: facts.environment)
        )
        if let whole {
            let (stream, known) = try reader.facts(ofPurchase: whole)
            now = try reader.time(ofAskingAt: now)
            let ownership = try reader.ownership(of: stream, known, after: drafts)
            let right = try reader.right(of: claimant, to: ownership, at: now)
            if case .ownedByAnother(let owner) = right {
                let owner = try pipeline.vault.customer(of: owner)
                return .settled(.refused(.claimedByAnother, owner: owner))
            }
        }
        switch try reader.right(of: claimant, to: ownership, at: now) {
        case .isOwner:
            if drafts.isEmpty {
                // E1: what was asked before has its first outcome, and appends nothing.
                if earlier != nil { return .settled(.known(sequence: sequence)) }
                return try sync(restated, known: sequence)
            }
            let sync = isDue(after: restated.lastSyncedAt) ? syncRequest(appended: 1) : nil
            return try seal(facts, drafts, with: sync)
        case .mayClaim where earlier == nil:
            let sync = syncDraft(appended: drafts.isEmpty ? 0 : 1)
            let claim = request.submission(of: [claim(askedAt: now), sync])
            if drafts.isEmpty { return try seal(claim, claim.drafts) }
            return try seal(facts, drafts, with: claim)
        // E1: what was asked before has its first outcome, whoever owns the purchase since.
        case .mayClaim: return .settled(.known(sequence: earlier))
        case .ownedByAnother where earlier != nil: return .settled(.known(sequence: earlier))
        case .ownedByAnother(let owner):
            let owner = try pipeline.vault.customer(of: owner)
            return .settled(.refused(.claimedByAnother, owner: owner))
        }
    }

    private func claim(askedAt time: Instant) -> EventDraft {
        EventDraft(
            subject: .customer(customer),
            time: time,
            data: EventData(
                .customerClaimed,
                [.purchase: .text(transaction.purchase.description)]
            )
        )
    }

    /// Row 6.3: a transaction that is known only updates the purchase's sync state, once in a while.
    private func sync(
        _ restated: RestatedFacts,
        known sequence: UInt64?
    ) throws -> Decision<ClaimOutcome> {
        guard isDue(after: restated.lastAskedAt) else {
            return .settled(.known(sequence: sequence))
        }
        let request = syncRequest(appended: 0)
        return try seal(request, request.drafts, then: .known(sequence: sequence))
    }

    private func isDue(after last: Instant?) -> Bool {
        let due = last?.advanced(byMilliseconds: Self.syncIntervalMilliseconds)
        return due.map { $0 <= now } ?? true
    }

    /// That the store was heard, where nothing else is asked for.
    private func syncRequest(appended: Int64) -> Submission {
        Request(
            id: "sync/\(transaction.purchase)/\(now.milliseconds)",
            source: Source.ledger,
            environment: request.environment
        ).submission(of: syncDraft(appended: appended))
    }

    private func syncDraft(appended: Int64) -> EventDraft {
        EventDraft(
            subject: .purchase(transaction.purchase),
            time: now,
            data: EventData(.syncCompleted, [.found: .integer(1), .appended: .integer(appended)])
        )
    }

    /// `then`: what its caller is told of an append; nil: where it stands.
    private func seal(
        _ submission: Submission,
        _ drafts: [EventDraft],
        with claim: Submission? = nil,
        then: ClaimOutcome? = nil
    ) throws -> Decision<ClaimOutcome> {
        let decided = try pipeline.sealer.seal(
            submission,
            drafts: drafts,
            with: claim,
            expectations: reader.expectations,
            resolver: reader.resolver
        )
        switch decided {
        case .refused(let refusal): return .settled(.refused(refusal, owner: nil))
        case .value(let sealed):
            return .sealed(sealed) { appended in
                switch appended {
                case .value(let range):
                    then ?? .recorded(sequence: range.lowerBound, size: range.upperBound)
                case .refused(let refusal): .refused(refusal, owner: nil)
                }
            }
        }
    }
}
