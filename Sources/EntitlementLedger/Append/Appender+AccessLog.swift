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

    /// What it is known by.
    var request: Request {
        Request(id: id, source: Source.ledger, environment: environment)
    }

    /// What is recorded of it.
    var draft: EventDraft {
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
        _ = try pipeline.record(accesses.map { AccessProposal(access: $0) })
    }
}
