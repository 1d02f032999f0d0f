import Entitlements
import EventLog

/// Whether facts that a customer hands in, or that a store was asked for, say anything that the ledger
/// does not know.
///
/// A store signs a transaction anew each time it is asked for: the same facts come in ever other
/// bytes, and would let whoever asks in a loop fill the log.
struct RestatedFacts {
    let pipeline: Pipeline
    /// What is known of the purchase, under any of its names.
    let known: [Fact]
    private let keys: StreamKeys?
    /// Where claims of the purchase stand.
    private let claims: Set<UInt64>

    /// `facts`: all about the purchase, as `DecisionReader` reads them.
    init(ofPurchase stream: UInt64, _ facts: [Fact], _ pipeline: Pipeline) throws {
        self.pipeline = pipeline
        let names = Links(facts, of: .purchaseLinked)
        let canonical = names.canonical(stream)
        known = facts.filter { $0.store != nil && names.canonical($0.subject) == canonical }
        keys = try pipeline.vault.keys(of: canonical)
        claims = Set(facts.lazy.filter { $0.kind == .customerClaimed }.map(\.sequence))
    }

    /// When the purchase was last synced (P11); nil: never.
    var lastSyncedAt: Instant? { syncs.map(\.time).max() }

    /// The same without what stands with a first claim, directly behind it: that is not asked for again.
    var lastAskedAt: Instant? {
        syncs.filter { !claims.contains($0.sequence &- 1) }.map(\.time).max()
    }

    private var syncs: [Fact] {
        known.filter { $0.kind == .syncCompleted || $0.kind == .syncReconciled }
    }

    /// The sequence of the event that says what the first of these says; nil if one of them is new.
    ///
    /// An event is known if recording it changes no answer, now or later.
    func sequence(ofSame drafts: [EventDraft]) throws -> UInt64? {
        var first: UInt64?
        for draft in drafts {
            guard let sequence = try sequence(ofSame: draft, among: drafts) else { return nil }
            if first == nil { first = sequence }
        }
        return first
    }

    /// An event is known if the newest statement in its matter says the same.
    private func sequence(ofSame draft: EventDraft, among drafts: [EventDraft]) throws -> UInt64? {
        let statement = known.filter {
            $0.kind.matter == draft.kind.matter && concerns($0, draft)
                && !isOfAll($0, beside: draft)
        }
        .newest()
        guard let statement, !takesBackAnother(draft, since: statement, among: drafts),
            let recorded = try pipeline.questions.event(at: statement.sequence)
        else { return nil }
        // Where a store told since when it tries again, what nobody told of it is not new (P4, P9).
        if draft.kind == .purchaseRetryStarted, draft.observedAt < draft.time,
            draft.observedAt < statement.observedAt
        {
            return recorded.sequence
        }
        var restated = draft
        restated.observedAt = recorded.event.observedAt
        // What holds from a time on is not new where it is said to hold from a later one.
        if draft.kind.lasts, recorded.event.time <= draft.time {
            restated.time = recorded.event.time
        }
        var differing = restated.differences(from: recorded.event.draft)
        if try passesOverAccount(of: draft, since: statement, in: recorded.event.environment) {
            differing.removeAll { $0 == "data." + Field.account.name }
        }
        return differing.isEmpty ? recorded.sequence : nil
    }

    /// Whether all of a purchase was verified beside a verdict on a period: the one repeats the other as
    /// little as it takes it back (P7).
    private func isOfAll(_ fact: Fact, beside draft: EventDraft) -> Bool {
        fact.kind == .verificationPassed && fact.transaction == nil
            && draft.data.text(.transactionID) != nil
    }

    /// Whether a period that is said again names somebody of whom nothing is known, where it named somebody
    /// who was erased since: that changes no owner (C1), and would give the name a number again (C6).
    private func passesOverAccount(
        of draft: EventDraft,
        since statement: Fact,
        in environment: StoreEnvironment
    ) throws -> Bool {
        guard draft.kind.givesPeriod, let erased = statement.other,
            try pipeline.vault.isErased(erased),
            let account = draft.data.text(.account).flatMap({ CustomerID($0) })
        else { return false }
        let name = StreamName(.customer(account), in: environment)
        return try pipeline.vault.stream(of: name) == nil
    }

    /// Whether a period that is said again takes back an end that was told since (P2), which nothing
    /// that comes with it tells again.
    private func takesBackAnother(
        _ draft: EventDraft,
        since statement: Fact,
        among drafts: [EventDraft]
    ) -> Bool {
        guard draft.kind.givesPeriod else { return false }
        let end = draft.data.instant(.expiresAt)
        return known.contains { fact in
            let isOtherEnd =
                switch fact.kind {
                case .purchaseExtended: fact.end != end
                case .purchaseExpired: end.map { fact.time < $0 } ?? true
                default: false
                }
            return isOtherEnd && concerns(fact, draft) && fact.isNewer(than: statement)
                && !drafts.contains { $0.kind == fact.kind && concerns(fact, $0) }
        }
    }

    /// Whether both speak of one transaction, or one of them of all.
    func concerns(_ fact: Fact, _ draft: EventDraft) -> Bool {
        guard let known = fact.transaction, let id = draft.data.text(.transactionID) else {
            return true
        }
        return known == keys?.tag(id)
    }
}

extension EventKind {
    /// Kinds whose newest statement counts among one another have one matter, named by the first.
    fileprivate var matter: EventKind {
        switch self {
        // What a period is (P1).
        case .purchaseRenewed: .purchaseCompleted
        // Its verification (P7).
        case .verificationFailed: .verificationPassed
        // What takes it away (P6).
        case .revocationRevoked, .revocationReversed: .revocationRefunded
        default: self
        }
    }

    /// Whether the earliest of equal statements counts: an end (P2, P4, P9), and what renews (P10).
    fileprivate var lasts: Bool { self == .purchaseExpired || self == .purchaseRenewalChanged }
}
