import Encodings
public import Entitlements
import EventLog

/// Somebody saw or changed what is recorded of a customer.
public struct CustomerAccess: Sendable, Hashable {
    /// Names the access: noted again it changes nothing (E1).
    public var id: String
    /// Whom it was about.
    public var customer: CustomerID
    /// The environment.
    public var environment: StoreEnvironment
    /// Who: a key's id.
    public var actor: String
    /// What was done, such as `exportCustomer`.
    public var action: String
    /// Why, in the actor's words.
    public var reason: String?
    /// When (T1).
    public var time: Instant

    /// Describes an access.
    public init(
        id: String,
        customer: CustomerID,
        environment: StoreEnvironment,
        actor: String,
        action: String,
        reason: String?,
        time: Instant
    ) {
        self.id = id
        self.customer = customer
        self.environment = environment
        self.actor = actor
        self.action = action
        self.reason = reason
        self.time = time
    }

    fileprivate var draft: EventDraft {
        EventDraft(
            subject: .customer(customer),
            time: time,
            data: EventData(
                .accessLogged,
                [
                    .actor: .text(actor), .action: .text(action),
                    .reason: reason.map { .text($0) },
                ]
            )
        )
    }
}

extension Appender {
    /// Records accesses as `access.logged` of their customers.
    ///
    /// An access to one of whom nothing is recorded makes no stream: it is passed over.
    ///
    /// Cost: as a rule one commit for all.
    /// - Throws: `LedgerFault`, `LogStorageFault`: some may have been recorded, all may be handed in
    ///   again.
    public func logAccess(_ accesses: [CustomerAccess]) throws {
        // Two of one customer would overtake one another: they stand in one submission (E2).
        var waiting = Dictionary(grouping: accesses) { access in
            StreamName(.customer(access.customer), in: access.environment)
        }
        .sorted {
            ($0.value[0].time, Name($0.value[0].id)) < ($1.value[0].time, Name($1.value[0].id))
        }
        _ = try decide { append in
            var sealed: [SealedSubmission] = []
            var names: [(key: StreamName, value: [CustomerAccess])] = []
            for (name, group) in waiting {
                guard let submission = try seal(group, of: name) else { continue }
                sealed.append(submission)
                names.append((name, group))
            }
            guard !sealed.isEmpty else { return true }
            let outcomes = try append(sealed)
            waiting = zip(names, outcomes).filter { $0.1 == .stale }.map(\.0)
            return waiting.isEmpty ? true : nil
        }
    }

    /// nil: nothing is recorded of the customer, or all was noted before.
    private func seal(
        _ group: [CustomerAccess],
        of name: StreamName
    ) throws -> SealedSubmission? {
        // An erasure between here and the append moves the stream (E4).
        guard let stream = try vault.stream(of: name),
            let last = try questions.views.lastSequence(of: stream)
        else { return nil }
        let new = try group.filter { access in
            try questions.sequence(
                ofSignal: access.id,
                source: Source.ledger,
                environment: access.environment
            ) == nil
        }
        guard let first = new.first else { return nil }
        let submission = Submission(
            id: first.id,
            source: Source.ledger,
            environment: first.environment,
            nature: .request,
            drafts: new.map(\.draft)
        )
        let decided = try SubmissionSealer(self).seal(
            submission,
            drafts: submission.drafts,
            expectations: [SealedSubmission.Expectation(stream: stream, lastSequence: last)],
            recordedAt: nil
        )
        guard case .value(let sealed) = decided else {
            preconditionFailure("what an access says is bounded far below a record")
        }
        return sealed
    }
}
