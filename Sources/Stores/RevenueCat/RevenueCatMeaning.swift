import Entitlements

/// What a signal comes to: its facts, and whom it names.
struct RevenueCatMeaning: Hashable, Sendable {
    var drafts: [EventDraft]
    var links: [LinkProposal] = []
    /// Ids that could not be used.
    var passedOver = 0

    /// A lifecycle event: facts on a purchase, of whose period the event's customer is the account.
    init(
        _ event: RevenueCatEvent,
        _ drafts: (RevenueCatPurchase) throws(InputFault) -> [EventDraft]
    ) throws(InputFault) {
        let customers = RevenueCatCustomers(commonFieldsOf: event)
        let purchase = try RevenueCatPurchase(event, of: customers.principal)
        self.init(drafts: try drafts(purchase), customers, saidAt: event.statedAt)
    }

    /// A transfer, whose receiving list names one customer.
    init(_ event: RevenueCatEvent, _ transfer: RevenueCatTransfer) {
        self.init(
            drafts: transfer.drafts(statedAt: event.statedAt),
            transfer.takers,
            saidAt: event.statedAt
        )
        passedOver += transfer.givers.passedOver
    }

    /// `SUBSCRIBER_ALIAS`: nothing but names.
    init(alias event: RevenueCatEvent) throws(InputFault) {
        guard !event.isFromPaywall else { throw InputFault(unusable: "a paywall's own event") }
        let customers = RevenueCatCustomers(commonFieldsOf: event)
        let customer = try event.required(customers.principal, "app_user_id")
        self.init(
            drafts: [Self.note(event, on: .customer(customer), detail: nil)],
            customers,
            saidAt: event.statedAt
        )
    }

    /// A signal that changes nothing, kept all the same (Stores, rule 5).
    ///
    /// - Parameters:
    ///   - event: What was received.
    ///   - subject: Whom it is kept for; nil: the purchase, else the customer, else the store.
    ///   - detail: Why it changes nothing, if its type could have.
    init(noting event: RevenueCatEvent, on subject: Subject? = nil, detail: String? = nil) {
        let subject = subject ?? Self.subject(of: event)
        drafts = [Self.note(event, on: subject, detail: detail)]
    }

    /// Facts, and the names that their customer has.
    init(drafts: [EventDraft], _ customers: RevenueCatCustomers, saidAt: Instant) {
        self.drafts = drafts
        links = customers.links(statedAt: saidAt)
        passedOver = customers.passedOver
    }

    private static func note(
        _ event: RevenueCatEvent,
        on subject: Subject,
        detail: String?
    ) -> EventDraft {
        EventDraft(
            subject: subject,
            time: event.statedAt,
            data: EventData(
                .signalNoted,
                [.name: .text(name(of: event)), .detail: detail.map { .text($0) }]
            )
        )
    }

    /// A paywall's author names its events freely: such a name stands in the evidence alone.
    private static func name(of event: RevenueCatEvent) -> String {
        guard event.isFromPaywall, !RevenueCatMapping.knownTypes.contains(event.type) else {
            return SignalName.of(event.type)
        }
        return "paywall_event"
    }

    private static func subject(of event: RevenueCatEvent) -> Subject {
        if let purchase = event.purchase { return .purchase(purchase) }
        if let customer = event.customer { return .customer(customer) }
        return store(of: event)
    }

    /// The store that the event names, else RevenueCat itself.
    static func store(of event: RevenueCatEvent) -> Subject {
        .store(event.store ?? Source.revenueCat)
    }
}
