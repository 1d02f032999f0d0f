import Entitlements

/// A report summed up over a prefix of the log: a view, disposable like the others.
///
/// What follows in the log is laid over it when a question is asked: the subjects that were spoken
/// of since are taken out as they stood, and put in as they stand.
struct RollUp: Sendable {
    /// Events that it was made from.
    var size: UInt64
    /// What all of them add to the report.
    var table: StepTable

    /// Which reports are kept summed up; the raw value names their files.
    enum Kind: String, Sendable, CaseIterable {
        /// Of money taken and given back: both reports.
        case revenue
        case customers, funnel, stages, errors
    }
}

extension RollUp.Kind {
    /// Milliseconds between the instants of T that can be asked about long after.
    var grain: Int64 {
        switch self {
        // Windows of whole hours end with a day's start.
        case .errors: Instant.millisecondsPerDay / 24
        case .revenue, .customers, .funnel, .stages: Instant.millisecondsPerDay
        }
    }

    /// Whether something sealed is read for it, so that an erasure changes what the log gives (P13).
    var readsSealed: Bool {
        switch self {
        case .revenue, .customers, .errors: true
        case .funnel, .stages: false
        }
    }

    /// What an event of a kind, in any environment, may do to it.
    func effect(of kind: EventKind) -> Effect {
        switch kind {
        case .customerErased where readsSealed: return .everything
        case .catalogPublished: return self == .customers ? .everything : .nothing
        default: break
        }
        let isRead =
            switch self {
            case .revenue: MoneyFact.reads(kind)
            // Whoever an event speaks of is a customer.
            case .customers: true
            case .funnel, .stages: FlowFact.reads(kind)
            case .errors: ErrorFact.reads(kind)
            }
        return isRead ? .subject : .nothing
    }

    /// What an event changes of a roll-up.
    enum Effect {
        /// Nothing.
        case nothing
        /// What its subject adds.
        case subject
        /// What anybody adds: it is made anew.
        case everything
    }
}
