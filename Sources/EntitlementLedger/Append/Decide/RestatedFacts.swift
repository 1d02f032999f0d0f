import Entitlements
import EventLog

/// Whether facts that a customer hands in say anything that the ledger does not know.
///
/// A store signs a transaction anew each time it is asked for: the same facts come in ever other
/// bytes, and would let a client in a loop fill the log.
struct RestatedFacts {
    private let pipeline: Pipeline
    /// What is known of the purchase, under any of its names.
    private let known: [Fact]
    private let keys: StreamKeys?

    /// `facts`: all about the purchase, as `DecisionReader` reads them.
    init(ofPurchase stream: UInt64, _ facts: [Fact], _ pipeline: Pipeline) throws {
        self.pipeline = pipeline
        let names = Links(facts, of: .purchaseLinked)
        let canonical = names.canonical(stream)
        known = facts.filter { $0.store != nil && names.canonical($0.subject) == canonical }
        keys = try pipeline.vault.keys(of: canonical)
    }

    /// When the purchase was last synced (P11); nil: never.
    var lastSyncedAt: Instant? {
        known.lazy.filter { $0.kind == .syncCompleted || $0.kind == .syncReconciled }
            .map(\.time).max()
    }

    /// The sequence of the event that says what the first of these says; nil if one of them is new.
    ///
    /// An event is known if the newest statement in its matter says the same: then recording it
    /// changes no answer, now or later.
    func sequence(ofSame drafts: [EventDraft]) throws -> UInt64? {
        var first: UInt64?
        for draft in drafts {
            guard let statement = newestStatement(inTheMatterOf: draft),
                let recorded = try pipeline.questions.event(at: statement.sequence)
            else { return nil }
            var restated = draft
            restated.observedAt = recorded.event.observedAt
            guard restated.differences(from: recorded.event.draft).isEmpty else { return nil }
            if first == nil { first = recorded.sequence }
        }
        return first
    }

    private func newestStatement(inTheMatterOf draft: EventDraft) -> Fact? {
        let transaction = draft.data.text(.transactionID).flatMap { keys?.tag($0) }
        let matter = draft.kind.matter
        return known.filter { fact in
            fact.kind.matter == matter
                && (fact.transaction == nil || transaction == nil
                    || fact.transaction == transaction)
        }
        .max { ($0.observedAt, $0.sequence) < ($1.observedAt, $1.sequence) }
    }
}

extension EventKind {
    /// Kinds whose newest statement counts among one another have one matter, named by the first.
    fileprivate var matter: EventKind {
        switch self {
        // Content and end of a period (P1, P2).
        case .purchaseRenewed, .purchaseExtended, .purchaseExpired: .purchaseCompleted
        // Its verification (P7).
        case .verificationFailed: .verificationPassed
        // What takes it away (P6).
        case .revocationRevoked, .revocationReversed: .revocationRefunded
        default: self
        }
    }
}
