package import Entitlements
import EventLog
package import LedgerAPI

/// Recomputes from the log alone what the ledger would have answered as known at R.
///
/// Nothing of it comes from views on the disk, and nothing that was recorded after R can be seen: the
/// prefix is read anew, its index is made in memory.
package struct AuditReplay: Sendable {
    private let auditor: Auditor
    /// The prefix as a ledger of its own.
    private let prefix: Ledger
    /// Events of the prefix.
    package let size: UInt64

    /// Judges evidence: the payload, the first event that was read from it, and when it was recorded.
    package typealias Verify = (
        _ evidence: [UInt8], _ event: Event, _ recordedAt: Instant
    ) -> EvidenceVerdict

    /// Reads a prefix.
    ///
    /// Cost: one pass over it; memory grows with its events.
    /// - Throws: `LedgerFault`, `LogStorageFault`.
    init(_ auditor: Auditor, knownAt known: BitemporalPoint.Known) throws {
        self.auditor = auditor
        size = try auditor.questions.prefix(knownAt: known)
        prefix = try auditor.readAnew(size)
    }

    /// Answers at T about everybody, or one customer, and holds the live ledger's answers against it.
    ///
    /// - Throws: `LedgerFault`, `LogStorageFault`.
    package func answers(
        at instant: Instant,
        environment: StoreEnvironment,
        customer: CustomerID? = nil,
        progress: (_ done: UInt64, _ of: UInt64) -> Void = { _, _ in }
    ) throws -> ReplayAnswer {
        let point = BitemporalPoint(at: instant, knownAt: .sequence(size))
        var report = try prefix.auditor.replay(
            point: point,
            environment: environment,
            customer: customer,
            against: auditor.questions,
            progress: progress
        )
        report.events = size
        return report
    }

    /// Asks tokens again, each of its own prefix of the log, read anew.
    ///
    /// `next`: the next token, nil for what is none, and who is meant; ends with nil.
    ///
    /// - Throws: `LogStorageFault`.
    package func tokens(
        _ next: () throws -> (token: DecisionToken?, customer: CustomerID?)?
    ) throws -> TokenReplay {
        var replay = TokenReplay()
        var whole: Ledger?
        while let (token, customer) = try next() {
            guard let token else {
                replay.add(.malformed)
                continue
            }
            // Of what was recorded after R only the tokens that were given then speak.
            if token.size > size, whole == nil {
                whole = try auditor.readAnew(auditor.questions.size())
            }
            let source = token.size > size ? whole ?? prefix : prefix
            replay.add(try source.questions.outcome(of: token, customer))
        }
        return replay
    }

    /// Judges the evidence of the prefix again, as of when it was signed (rows 7.3, 7.4).
    ///
    /// - Throws: `LogStorageFault` where evidence is not what was recorded.
    package func evidence(
        of customer: CustomerID? = nil,
        environment: StoreEnvironment,
        _ verify: Verify,
        progress: (_ done: UInt64, _ of: UInt64) -> Void = { _, _ in }
    ) throws -> EvidenceReplay {
        var replay = EvidenceReplay()
        let recorded = RecordedEvidence(prefix.questions, environment, below: size)
        try recorded.forEach(of: customer) { first in
            progress(first, size)
            guard let evidence = try prefix.questions.evidence(of: first),
                let event = try prefix.questions.event(at: first)
            else {
                replay.erased += 1
                return
            }
            replay.add(verify(evidence, event.event, event.recordedAt), first)
        }
        return replay
    }
}

extension Questions {
    /// What a token comes to.
    fileprivate func outcome(
        of token: DecisionToken,
        _ customer: CustomerID?
    ) throws -> TokenReplay.Outcome {
        switch try answer(to: token, customer: customer).refusal?.code {
        case nil: .same
        case .differs: token.rules == RulesVersion.current ? .differs : .otherRules
        case .erased: .erased
        case .unknownSequence, .otherLedger, .otherHistory: .otherLedger
        case .customerMissing: .customerMissing
        case .otherCustomer: .otherCustomer
        }
    }
}
