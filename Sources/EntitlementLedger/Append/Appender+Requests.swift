public import Encodings
public import Entitlements
import EventLog
import LedgerAPI
import Synchronization

/// A request of a client or of support: what it is known by.
public struct Request: Sendable {
    /// The idempotency key (E1).
    public var id: String
    /// Who asks, such as `support` or `app`.
    public var source: String
    /// The environment.
    public var environment: StoreEnvironment

    /// Makes a request.
    public init(id: String, source: String, environment: StoreEnvironment) {
        self.id = id
        self.source = source
        self.environment = environment
    }
}

extension Appender {
    /// Claims a purchase for a customer (C1, row CL2).
    ///
    /// - Returns: `known` if the customer owns it already; a refusal under `policy.claim` `keep` if
    ///   another does.
    public func claim(
        _ purchase: PurchaseName,
        for customer: CustomerID,
        _ request: Request
    ) throws -> Receipt {
        let claim = RequestProposal(claiming: purchase, for: customer, request)
        let receipt = try pipeline.record(claim)
        if receipt == .refused(.claimedByAnother) {
            try noteRefusedClaim(on: purchase, by: customer, in: request.environment)
        }
        return receipt
    }

    /// Makes a customer the owner of a purchase, whatever `policy.claim` says (C1; Stores, rule 7).
    ///
    /// `reason`: kept beside it as `signal.noted` `purchase_transferred`; shown to support alone.
    ///
    /// - Returns: `known` if the customer owns it already; a refusal for an unknown purchase.
    public func transfer(
        _ purchase: PurchaseName,
        to customer: CustomerID,
        reason: String,
        _ request: Request
    ) throws -> OwnerOutcome {
        try pipeline.record(
            OwnerProposal(
                request: request,
                purchase: purchase,
                change: .transfer(to: customer),
                reason: reason
            )
        )
    }

    /// Takes a purchase from whoever owns it, so that nobody does (C1; Stores, rule 7).
    ///
    /// `reason`: kept beside it as `signal.noted` `purchase_released`; shown to support alone.
    ///
    /// - Returns: `known` if nobody owns it already; a refusal for an unknown purchase.
    public func release(
        _ purchase: PurchaseName,
        reason: String,
        _ request: Request
    ) throws -> OwnerOutcome {
        try pipeline.record(
            OwnerProposal(request: request, purchase: purchase, change: .release, reason: reason)
        )
    }

    /// Gives features or a tier by hand (C3).
    ///
    /// `grantID`: unique within the customer; given again it restates the grant.
    ///
    /// `expiresAt`: the end; nil: without end.
    public func grant(
        _ grantID: String,
        to customer: CustomerID,
        features: [String],
        tier: String?,
        expiresAt: Instant?,
        reason: String?,
        _ request: Request
    ) throws -> Receipt {
        let data = EventData(
            .grantGiven,
            [
                .grantID: .text(grantID), .features: features.isEmpty ? nil : .texts(features),
                .tier: tier.map { .text($0) }, .expiresAt: expiresAt.map { .instant($0) },
                .reason: reason.map { .text($0) },
            ]
        )
        return try decide(request, customer, data) { _, _ in .record }
    }

    /// Ends a grant (C3).
    public func withdraw(
        _ grantID: String,
        from customer: CustomerID,
        _ request: Request
    ) throws -> Receipt {
        let data = EventData(.grantWithdrawn, [.grantID: .text(grantID)])
        return try decide(request, customer, data) { reader, _ in
            let named = try reader.facts(naming: grantID, of: customer)
            guard named.contains(where: { $0.kind == .grantGiven }) else {
                return .refused(
                    Refusal(.unknownGrant, "grantId", "the customer has no such grant")
                )
            }
            return .record
        }
    }

    /// Starts a trial, once for each customer and trial (C4, row 4.5).
    public func startTrial(
        _ trialID: String,
        for customer: CustomerID,
        _ request: Request
    ) throws -> Receipt {
        let data = EventData(.trialStarted, [.trialID: .text(trialID)])
        return try decide(request, customer, data) { reader, now in
            guard let catalog = try reader.catalogs().catalog(at: now),
                catalog.trials.contains(where: { $0.id.isSame(as: trialID) })
            else {
                return .refused(
                    Refusal(.unknownTrial, "trialId", "the catalog in force has no such trial")
                )
            }
            if try reader.trials(startedBy: customer).contains(trialID) {
                return .refused(
                    Refusal(.trialUsed, "trialId", "the customer had this trial before")
                )
            }
            return .record
        }
    }

    /// Makes another id a name of a customer (C2).
    public func link(
        _ alias: CustomerID,
        to customer: CustomerID,
        _ request: Request
    ) throws -> Receipt {
        let data = EventData(.customerLinked, [.alias: .text(alias.text)])
        return try decide(request, customer, data) { reader, _ in
            let (stream, facts) = try reader.facts(ofCustomer: customer)
            let links = Links(facts, of: .customerLinked)
            let other = try reader.stream(.customer(alias))
            return links.canonical(other) == links.canonical(stream) ? .known : .record
        }
    }

    /// Records what happened in a purchase flow (rows 2.4, 10.1).
    ///
    /// `data`: of one of the `flow` kinds.
    public func recordFlow(
        _ data: EventData,
        of customer: CustomerID,
        _ request: Request
    ) throws -> Receipt {
        try decide(request, customer, data) { _, _ in .record }
    }

    /// Notes that a customer asks to be erased, as `signal.noted` `erasure_requested`: whoever runs the ledger
    /// does it (row 9.5).
    public func noteErasureRequest(of customer: CustomerID, _ request: Request) throws -> Receipt {
        let data = EventData(.signalNoted, [.name: .text(ListedEvent.erasureRequestName)])
        return try decide(request, customer, data) { _, _ in .record }
    }

    /// Publishes a catalog from an effective time on (K1).
    ///
    /// `document`: with its named time zones resolved (K10).
    ///
    /// `effective`: nil: now, or for a repeat when it was published first; in 2000 to 2200.
    public func publish(
        _ document: JSONValue,
        effective: Instant?,
        _ request: Request
    ) throws -> Receipt {
        if let effective, !effective.isPlausible {
            return .refused(
                Refusal(.outOfRange, "effective", "expected an instant in 2000 to 2200")
            )
        }
        // Whoever asks, a catalog is its own source's.
        let request = Request(
            id: request.id,
            source: Source.catalog,
            environment: request.environment
        )
        let data = EventData(recorded: .catalogPublished, entries: [], document: document)
        func publish(at time: Instant) throws -> Receipt {
            try record(
                request.submission(of: EventDraft(subject: .catalog, time: time, data: data))
            )
        }
        if let effective { return try publish(at: effective) }
        let time = try timeOfEarlier(request) ?? pipeline.timeOfAsking()
        let receipt = try publish(at: time)
        // The first one may have been on its way still when its time was looked up (E1).
        guard case .refused(let refusal) = receipt, refusal.code == .conflict,
            let first = try timeOfEarlier(request), first != time
        else { return receipt }
        return try publish(at: first)
    }

    /// Records what is asked about a customer if a rule lets it (E4).
    ///
    /// `data`: what the customer's event holds if it is recorded.
    func decide(
        _ request: Request,
        _ customer: CustomerID,
        _ data: EventData,
        _ rule: @escaping RequestProposal.Rule
    ) throws -> Receipt {
        // What is recorded stays, and must be taken elsewhere, too.
        if let fault = data.fault(of: .customer) { return .refused(Refusal(fault)) }
        return try pipeline.record(
            RequestProposal(request: request, customer: customer, data: data, rule: rule)
        )
    }

    /// The effective time of what a request recorded before; nil: nothing.
    private func timeOfEarlier(_ request: Request) throws -> Instant? {
        try questions.sequence(of: request).flatMap { try questions.event(at: $0) }?.event.time
    }
}

extension Refusal {
    /// What is not of its field's shape.
    fileprivate init(_ fault: InputFault) {
        self.init(
            fault.code == .outOfRange ? .outOfRange : .invalidValue,
            fault.path,
            fault.detail
        )
    }
}

extension RequestProposal {
    /// A customer's claim to a purchase (C1).
    init(claiming purchase: PurchaseName, for customer: CustomerID, _ request: Request) {
        self.init(
            request: request,
            customer: customer,
            data: EventData(.customerClaimed, [.purchase: .text(purchase.description)])
        ) { reader, now in
            let ownership = try reader.ownership(of: purchase)
            let stream = try reader.stream(.customer(customer))
            let now = try reader.time(ofAskingAt: now)
            switch try reader.right(of: stream, to: ownership, at: now) {
            case .isOwner: return .known
            case .mayClaim: return .record
            case .ownedByAnother: return .refused(.claimedByAnother)
            }
        }
    }
}
