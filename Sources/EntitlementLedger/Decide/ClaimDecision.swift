import Entitlements
import EventLog

/// Decides what a customer hands in: a transaction's facts and the claim to its purchase, which
/// stand together or not at all (row 2.3, E2, E4).
///
/// The claim is the request's, not the store's: it stands under the request's source and id, with
/// the time of asking (Stores, rule 7), behind the facts of the store's signal. So each signal
/// keeps its own idempotency (E1).
struct ClaimDecision {
    private let appender: Appender
    private let transaction: VerifiedTransaction
    private let customer: CustomerID
    /// The claim's request, in the transaction's environment whatever was asked for.
    private let request: Request
    private let now: Instant
    /// Where the request and the facts' signal were recorded before; nil: nowhere.
    private let requestSequence, factsSequence: UInt64?
    private var reader: DecisionReader

    /// What there is to do.
    enum Step {
        case settled(ClaimOutcome)
        case append(SealedSubmission, then: Then)
    }

    /// What an append that stands comes to.
    enum Then {
        case recorded
        case known(UInt64?)
    }

    /// A client in a loop updates a purchase's sync state at most so often (row 6.3).
    static let syncIntervalMilliseconds: Int64 = 3_600_000

    init(
        _ transaction: VerifiedTransaction,
        for customer: CustomerID,
        _ request: Request,
        _ appender: Appender
    ) throws {
        self.appender = appender
        self.transaction = transaction
        self.customer = customer
        self.request = Request(
            id: request.id,
            source: request.source,
            environment: transaction.facts.environment
        )
        now = appender.clock()
        // Looked up before the reader takes its prefix: what is known here, it sees too.
        requestSequence = try appender.questions.sequence(of: self.request)
        factsSequence = try appender.questions.sequence(
            ofSignal: transaction.facts.id,
            source: transaction.facts.source,
            environment: transaction.facts.environment
        )
        reader = try DecisionReader(appender, transaction.facts.environment)
    }

    /// Decides against the log as it stands.
    mutating func step() throws -> Step {
        if let refusal = Preparation.refusal(of: transaction.facts) {
            return .settled(.refused(refusal, owner: nil))
        }
        switch try earlierClaim() {
        case .refused(let refusal): return .settled(.refused(refusal, owner: nil))
        case .value(let earlier): return try decide(after: earlier)
        }
    }

    /// `earlier`: the claim that this request made before; nil: none.
    private mutating func decide(after earlier: UInt64?) throws -> Step {
        let facts = transaction.facts
        var sequence = factsSequence
        let (stream, known) = try reader.facts(ofPurchase: transaction.purchase)
        let restated = try RestatedFacts(ofPurchase: stream, known, appender)
        if sequence == nil { sequence = try restated.sequence(ofSame: facts.drafts) }
        let drafts = sequence == nil ? try facts.drafts + NewLinks(appender).drafts(of: facts) : []
        // Whom the store names comes before the customer's word.
        let ownership = try reader.ownership(of: stream, known, after: drafts)
        // Looked up, not reserved: who is refused leaves nothing behind.
        let claimant = try appender.vault.stream(
            of: StreamName(.customer(customer), in: facts.environment)
        )
        switch try reader.right(of: claimant, to: ownership, at: now) {
        case .isOwner:
            if !drafts.isEmpty { return try append(drafts, claim: nil) }
            return try sync(restated, known: sequence)
        case .mayClaim where earlier == nil: return try append(drafts, claim: claim)
        // E1: what was asked before has its first outcome, whoever owns the purchase since.
        case .mayClaim: return .settled(.known(sequence: earlier))
        case .ownedByAnother where earlier != nil: return .settled(.known(sequence: earlier))
        case .ownedByAnother(let owner):
            let owner = try appender.vault.customer(of: owner)
            return .settled(.refused(.claimedByAnother, owner: owner))
        }
    }

    /// The claim that this request made before, nil where it made none; refused if it asked for
    /// something else (E1).
    private func earlierClaim() throws -> Decided<UInt64?> {
        guard let sequence = requestSequence else { return .value(nil) }
        // Erased since: a repeat is a duplicate, nothing more.
        guard let known = try appender.questions.event(at: sequence) else {
            return .value(sequence)
        }
        let differing = request.event((claim.subject, known.event.time, claim.data))
            .draft.differences(from: known.event.draft)
        guard differing.isEmpty else {
            return .refused(
                Refusal(
                    .conflict,
                    differing.joined(separator: ", "),
                    "event \(sequence) has this id and other content"
                )
            )
        }
        return .value(sequence)
    }

    private var claim: Event {
        request.event(
            (
                .customer(customer), now,
                EventData(
                    .customerClaimed,
                    [.purchase: .text(transaction.purchase.description)]
                )
            )
        )
    }

    private func append(_ drafts: [EventDraft], claim: Event?) throws -> Step {
        if drafts.isEmpty, let claim {
            return try append(Submission(event: claim), then: .recorded)
        }
        return try append(transaction.facts, drafts, claim: claim, then: .recorded)
    }

    private func append(
        _ submission: Submission,
        _ drafts: [EventDraft]? = nil,
        claim: Event? = nil,
        then: Then
    ) throws -> Step {
        let decided = try SubmissionSealer(appender).seal(
            submission,
            drafts: drafts ?? submission.drafts,
            request: claim,
            expectations: reader.expectations,
            recordedAt: nil
        )
        switch decided {
        case .value(let sealed): return .append(sealed, then: then)
        case .refused(let refusal): return .settled(.refused(refusal, owner: nil))
        }
    }

    /// Row 6.3: a transaction that is known only updates the purchase's sync state, once in a while.
    private func sync(_ restated: RestatedFacts, known sequence: UInt64?) throws -> Step {
        let last = restated.lastSyncedAt
        let due = last?.advanced(byMilliseconds: Self.syncIntervalMilliseconds)
        guard due.map({ $0 <= now }) ?? true else { return .settled(.known(sequence: sequence)) }
        let event = Event(
            id: "sync/\(transaction.purchase)/\(now.milliseconds)",
            source: Source.ledger,
            subject: .purchase(transaction.purchase),
            time: now,
            environment: request.environment,
            data: EventData(.syncCompleted, [.found: .integer(1), .appended: .integer(0)])
        )
        return try append(Submission(event: event), then: .known(sequence))
    }
}
