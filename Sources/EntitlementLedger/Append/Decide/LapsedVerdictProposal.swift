import Entitlements
import EventLog

/// A verdict that rests on evidence which no longer verifies (Stores, rule 5).
struct LapsedVerdict {
    var purchase: PurchaseName
    /// The period's; nil: all of the purchase (P7).
    var transactionID: String?
    /// How it was verified, a word of `method`.
    var method: String
    /// Why it no longer is, a code of a closed set.
    var code: String
    /// Place of the verdict.
    var sequence: UInt64
}

/// That a verdict lapsed, to be recorded as `verification.failed` unless the ledger says so already.
struct LapsedVerdictProposal: Proposal {
    let verdict: LapsedVerdict
    let environment: StoreEnvironment
    /// When it was asked for: the same verdict may lapse again.
    let askedAt: Instant

    private var request: Request {
        Request(
            id: "verification/\(verdict.sequence)/\(askedAt.milliseconds)",
            source: Source.ledger,
            environment: environment
        )
    }

    func signal(in pipeline: Pipeline) -> SignalDigest { pipeline.signal(of: request) }

    func decision(
        in pipeline: Pipeline,
        as signal: SignalDigest,
        after earlier: UInt64?
    ) throws -> Decision<Receipt> {
        if let earlier { return .settled(.duplicate(of: earlier)) }
        var reader = try DecisionReader(pipeline, environment)
        let (stream, facts) = try reader.facts(ofPurchase: verdict.purchase)
        guard let passed = try lastPassed(stream, facts, pipeline) else { return .settled(.known) }
        let draft = EventDraft(
            subject: .purchase(verdict.purchase),
            // Behind the verdict, whose period may begin later: the last one counts (P7).
            time: max(try pipeline.timeOfAsking(), passed.time),
            data: EventData(
                .verificationFailed,
                [
                    .transactionID: verdict.transactionID.map { .text($0) },
                    .method: .text(verdict.method), .reason: .text(verdict.code),
                ]
            )
        )
        return Decision(
            try pipeline.sealer.seal(
                request.submission(of: draft),
                signal: signal,
                expectations: reader.expectations,
                resolver: reader.resolver
            )
        )
    }

    /// The last verdict that names the transaction or none, if it is `passed` (P7).
    private func lastPassed(
        _ purchase: UInt64,
        _ facts: [Fact],
        _ pipeline: Pipeline
    ) throws -> Fact? {
        let names = Links(facts, of: .purchaseLinked)
        let canonical = names.canonical(purchase)
        let keys = try pipeline.vault.keys(of: canonical)
        let transaction = verdict.transactionID.flatMap { keys?.tag($0) }
        let last = facts.filter { fact in
            (fact.kind == .verificationPassed || fact.kind == .verificationFailed)
                && names.canonical(fact.subject) == canonical
                && (fact.transaction == nil || transaction == nil
                    || fact.transaction == transaction)
        }
        .max { ($0.time, $0.sequence) < ($1.time, $1.sequence) }
        return last.flatMap { $0.kind == .verificationPassed ? $0 : nil }
    }
}
