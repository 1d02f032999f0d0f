import Entitlements
import EventLog

/// What a client or support asks for about a customer, decided by a rule against the log (E4).
struct RequestProposal: Proposal {
    let request: Request
    let customer: CustomerID
    /// What the customer's event holds if it is recorded.
    let data: EventData
    /// Whether it is recorded.
    let rule: Rule

    /// Decides by what it reads, which then must not have moved.
    typealias Rule = (inout DecisionReader, _ now: Instant) throws -> Verdict

    /// Whether a request is to be recorded.
    enum Verdict {
        case record
        /// It says nothing new.
        case known
        case refused(Refusal)
    }

    func signal(in pipeline: Pipeline) -> SignalDigest { pipeline.signal(of: request) }

    func decision(
        in pipeline: Pipeline,
        as signal: SignalDigest,
        after earlier: UInt64?
    ) throws -> Decision<Receipt> {
        if let earlier {
            return .settled(try pipeline.repeated(at: earlier, asking: draft))
        }
        var now = pipeline.clock()
        while true {
            var reader = try DecisionReader(pipeline, request.environment)
            let verdict = try rule(&reader, now)
            // What is recorded at another time is decided anew, as of that.
            let time = try reader.time(ofAskingAt: now)
            guard time == now else {
                now = time
                continue
            }
            switch verdict {
            case .known: return .settled(.known)
            case .refused(let refusal): return .settled(.refused(refusal))
            case .record: break
            }
            let submission = request.submission(of: draft(askedAt: now))
            return Decision(
                try pipeline.sealer.seal(
                    submission,
                    signal: signal,
                    expectations: reader.expectations,
                    resolver: reader.resolver
                )
            )
        }
    }

    private func draft(askedAt time: Instant) -> EventDraft {
        EventDraft(subject: .customer(customer), time: time, data: data)
    }
}

extension Request {
    /// A draft that is recorded under the request's id.
    func submission(of draft: EventDraft) -> Submission { submission(of: [draft]) }

    /// Drafts that are recorded under the request's id, together or not at all (E2).
    func submission(of drafts: [EventDraft]) -> Submission {
        Submission(
            id: id,
            source: source,
            environment: environment,
            nature: .request,
            drafts: drafts
        )
    }
}
