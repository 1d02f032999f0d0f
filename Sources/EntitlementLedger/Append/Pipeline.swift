import Entitlements
import EventLog

/// The one way into the log: proposal, decision, sealed submission, writer, receipt.
///
/// A proposal's id is looked up (E1), an outcome is read, a stale decision is made anew and a conflict
/// with a known id is worded here and nowhere else.
struct Pipeline: Sendable {
    let questions: Questions
    /// Names and keys, with what is given and destroyed.
    let vault: any Vault
    let writer: LogWriter
    let sealer: SubmissionSealer
    let clock: @Sendable () -> Instant

    /// Records a proposal, durably when this returns (E3).
    func record<Proposed: Proposal>(_ proposal: Proposed) throws -> Proposed.Outcome {
        try record([proposal])[0]
    }

    /// Records proposals, as a rule in one commit; an outcome for each.
    func record<Proposed: Proposal>(_ proposals: [Proposed]) throws -> [Proposed.Outcome] {
        try record(proposals.map { try decision(of: $0) }) { proposals[$0] }
    }

    /// Records proposals that were decided ahead.
    ///
    /// `proposal`: the one that a decision is about, by its place; asked where the log overtook it.
    ///
    /// - Throws: what log and vault throw; what was recorded until then stands.
    func record<Proposed: Proposal>(
        _ decided: some Collection<Decision<Proposed.Outcome>>,
        of proposal: (Int) -> Proposed
    ) throws -> [Proposed.Outcome] {
        let submissions = decided.compactMap(\.submission)
        var outcomes = try (submissions.isEmpty ? [] : writer.append(submissions))[...]
        return try decided.enumerated().map { place, decision in
            switch decision {
            case .settled(let outcome): return outcome
            case .unchanged(let outcome, let size):
                if try questions.log.end().size == size { return outcome }
                return try writer.alone { try decide(proposal(place), $0) }
            case .sealed(let submission, let outcome):
                if let appended = appended(submission, outcomes.removeFirst()) {
                    return try outcome(appended)
                }
                return try writer.alone { try decide(proposal(place), $0) }
            }
        }
    }

    /// Records a proposal together with whoever else is waiting.
    ///
    /// What reads, compresses and seals is done on a pool, so that no thread waits that others
    /// share.
    func record<Proposed: Proposal & Sendable>(
        concurrently proposal: Proposed,
        on pool: some BlockingPool
    ) async throws -> Proposed.Outcome where Proposed.Outcome: Sendable {
        let decided = try await decideAndAppend(proposal, on: pool)
        switch decided.decision {
        // What came meanwhile came beside it.
        case .settled(let outcome), .unchanged(let outcome, _): return outcome
        case .sealed(let submission, let outcome):
            if let appended = decided.appended.flatMap({ appended(submission, $0) }) {
                return try outcome(appended)
            }
            return try await writer.alone { try decide(proposal, $0) }
        }
    }

    /// Decides on a pool, from where what is sealed goes on to the writer: a caller wakes up once,
    /// when all is done.
    private func decideAndAppend<Proposed: Proposal & Sendable>(
        _ proposal: Proposed,
        on pool: some BlockingPool
    ) async throws -> (decision: Decision<Proposed.Outcome>, appended: AppendOutcome?)
    where Proposed.Outcome: Sendable {
        try await withCheckedThrowingContinuation { continuation in
            pool.submit { refusal in
                do {
                    if let refusal { throw refusal }
                    let decision = try decision(of: proposal)
                    guard let submission = decision.submission else {
                        return continuation.resume(returning: (decision, nil))
                    }
                    writer.append(submission) { appended in
                        continuation.resume(with: appended.map { (decision, $0) })
                    }
                } catch {
                    continuation.resume(throwing: error)
                }
            }
        }
    }

    /// Decides a proposal: the one place where it is asked whether its id is known (E1).
    func decision<Proposed: Proposal>(
        of proposal: Proposed
    ) throws -> Decision<Proposed.Outcome> {
        let signal = proposal.signal(in: self)
        // Before any stream is reserved for it.
        let surrenders = vault.surrenders
        let earlier = try sequence(of: signal)
        let decision = try decided(proposal, as: signal, after: earlier)
            .decided(afterSurrenders: surrenders)
        // What settled it may be itself, recorded since it was looked up: the first outcome stands.
        // What is sealed the writer looks up.
        guard earlier == nil, case .settled = decision, let first = try sequence(of: signal) else {
            return decision
        }
        return try decided(proposal, as: signal, after: first)
    }

    /// Decides, and again where an erasure came between what it read: the names lead elsewhere then.
    private func decided<Proposed: Proposal>(
        _ proposal: Proposed,
        as signal: SignalDigest,
        after earlier: UInt64?
    ) throws -> Decision<Proposed.Outcome> {
        do {
            return try proposal.decision(in: self, as: signal, after: earlier)
        } catch let fault as LedgerFault where fault.code == .contended {
            return try proposal.decision(in: self, as: signal, after: earlier)
        }
    }

    /// Decides a proposal and records it while nobody else appends: what it reads stands until its
    /// own append, so that it is never overtaken twice, however many decide about one customer.
    func decide<Proposed: Proposal>(
        _ proposal: Proposed,
        _ append: LogWriter.Append
    ) throws -> Proposed.Outcome {
        switch try decision(of: proposal) {
        case .settled(let outcome), .unchanged(let outcome, _): return outcome
        case .sealed(let submission, let outcome):
            guard let appended = appended(submission, try append([submission])[0]) else {
                throw LedgerFault(.contended, "a decision did not come to stand: try again")
            }
            return try outcome(appended)
        }
    }

    /// What became of a submission that was handed in; nil: others were faster, it is to be decided
    /// anew, and a signal that is known by then is looked up.
    private func appended(
        _ submission: SealedSubmission,
        _ outcome: AppendOutcome
    ) -> Decided<Range<UInt64>>? {
        switch outcome {
        // Fits: a log's size has 64 bits.
        case .appended(let first, _): .value(first..<first + UInt64(submission.records.count))
        case .duplicate, .stale: nil
        case .idTaken(let sequence): .refused(.conflict(in: "id", with: sequence))
        case .recordedTimeBeforeLast:
            .refused(
                Refusal(.recordedTime, "recordedtime", "lies before the ledger's last event")
            )
        case .recordedTimeAfterClock:
            .refused(Refusal(.recordedTime, "recordedtime", "lies after the clock"))
        }
    }
}

extension Pipeline {
    /// The digest that a submission is known by.
    func signal(of submission: Submission) -> SignalDigest {
        vault.digestSecret.signal(
            environment: submission.environment.rawValue,
            source: submission.source,
            id: submission.id
        )
    }

    /// The digest that a request is known by.
    func signal(of request: Request) -> SignalDigest {
        vault.digestSecret.signal(
            environment: request.environment.rawValue,
            source: request.source,
            id: request.id
        )
    }

    /// Where a signal was recorded; nil: never (E1).
    func sequence(of signal: SignalDigest) throws -> UInt64? {
        try questions.views.sequence(of: signal)
    }

    /// The time of asking, as it will be recorded (T3): whatever was asked for before, by a clock that
    /// was put back since, does not stand behind it.
    ///
    /// Who decides against the log asks for it once they know how far they read.
    func timeOfAsking() throws -> Instant {
        let last = try questions.log.end().lastRecordedAt
        return max(clock(), Instant(milliseconds: last))
    }

    /// What a request is told whose id is known (E1): the first outcome stands, whatever would be
    /// decided now; other content is a conflict.
    ///
    /// `asked`: what it asks for, where it was asked for first at a time.
    func repeated(
        at sequence: UInt64,
        asking asked: (_ firstAskedAt: Instant) -> EventDraft
    ) throws -> Receipt {
        // Erased since: a repeat is a duplicate, nothing more.
        guard let known = try questions.event(at: sequence)?.event else {
            return .duplicate(of: sequence)
        }
        let gone = Field.allCases.filter { known.data.namesErased($0) }.map { "data." + $0.name }
        let differing = asked(known.time).differences(from: known.draft)
            .filter { !gone.contains($0) }
        if differing.isEmpty { return .duplicate(of: sequence) }
        return .refused(.conflict(in: differing.joined(separator: ", "), with: sequence))
    }
}

extension Refusal {
    /// Other content under a known id (E1).
    static func conflict(in fields: String, with sequence: UInt64) -> Refusal {
        Refusal(.conflict, fields, "event \(sequence) has this id and other content")
    }
}

extension EventData {
    /// Whether a field names somebody who was erased since (C6): what it named then nobody can tell.
    fileprivate func namesErased(_ field: Field) -> Bool {
        guard field.placement == .stream else { return false }
        let names = texts(field) ?? text(field).map { [$0] } ?? []
        return names.contains { name in
            let number = name.utf8.dropFirst("erased/".utf8.count)
            return name.hasPrefix("erased/") && number.allSatisfy { (0x30...0x39).contains($0) }
        }
    }
}

extension EventDraft {
    /// The attributes in which what is known under the same id differs (E1), by their path.
    func differences(from known: EventDraft) -> [String] {
        var differing: [String] = []
        if kind != known.kind { differing.append("type") }
        if subject != known.subject { differing.append("subject") }
        if time != known.time { differing.append("time") }
        if observedAt != known.observedAt { differing.append("data.observedAt") }
        if data.document?.withoutTimeZones != known.data.document?.withoutTimeZones {
            differing.append("data")
        }
        for field in Field.allCases where data[field] != known.data[field] {
            differing.append("data." + field.name)
        }
        return differing
    }
}
