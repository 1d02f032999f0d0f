import EventLog

/// What somebody wants recorded (Storage, "Append").
///
/// Whatever comes into the log is one: signals, batches, requests, claims, uses, accesses, refusals,
/// erasures. The pipeline looks each up, seals it, hands it to the writer and reads the outcome.
protocol Proposal {
    /// What its caller is told.
    associatedtype Outcome

    /// What it is known by (E1).
    func signal(in pipeline: Pipeline) -> SignalDigest

    /// Decides against the log as it stands (E4); made anew where the log overtakes it.
    ///
    /// `signal`: its own. `earlier`: where that was recorded before; nil: nowhere.
    func decision(
        in pipeline: Pipeline,
        as signal: SignalDigest,
        after earlier: UInt64?
    ) throws -> Decision<Outcome>
}

/// What a proposal comes to.
enum Decision<Outcome> {
    /// Nothing is to be appended: this is what its caller is told.
    case settled(Outcome)
    /// Nothing is to be appended as the log stood with so many events; where it has more, it is decided anew.
    case unchanged(Outcome, at: UInt64)
    /// The writer may take it; what its caller is told follows from the sequences of its events, or
    /// from why the writer refuses it.
    case sealed(SealedSubmission, outcome: @Sendable (Decided<Range<UInt64>>) throws -> Outcome)

    /// What the writer is to take; nil: nothing.
    var submission: SealedSubmission? {
        switch self {
        case .settled, .unchanged: nil
        case .sealed(let submission, _): submission
        }
    }

    /// The same, decided when reserved streams had been given up so often.
    func decided(afterSurrenders surrenders: UInt64) -> Self {
        guard case .sealed(let submission, let outcome) = self else { return self }
        return .sealed(submission.decided(afterSurrenders: surrenders), outcome: outcome)
    }
}

extension Decision: Sendable where Outcome: Sendable {}

extension Decision where Outcome == Receipt {
    /// A submission whose caller is told its receipt, or why it is refused.
    init(_ decided: Decided<SealedSubmission>) {
        self =
            switch decided {
            case .refused(let refusal): .settled(.refused(refusal))
            case .value(let submission):
                .sealed(submission) { appended in
                    switch appended {
                    case .value(let range): .appended(first: range.lowerBound, count: range.count)
                    case .refused(let refusal): .refused(refusal)
                    }
                }
            }
    }
}
