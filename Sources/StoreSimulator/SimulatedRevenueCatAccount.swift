package import Encodings
package import Entitlements

/// What RevenueCat tells of what one Apple Account buys, step by step: the webhooks that it sends, and
/// what its API lists.
///
/// Transactions have the ids that the App Store gives the account of the same number, so that both may
/// tell of one purchase. A step happens at an instant; steps are taken in the order of time.
package struct SimulatedRevenueCatAccount: Sendable {
    /// Its ids are made of it.
    let number: Int
    /// Whose the purchases are, by the app's name for them.
    package private(set) var customer: CustomerID
    /// Who had them before, and has nothing now.
    package private(set) var givers: [CustomerID] = []
    /// By their order.
    private(set) var purchases: [Purchase] = []
    /// What was sent so far, in the order of time.
    package private(set) var webhooks: [Webhook] = []
    /// Each transaction's purchase.
    private var transactions: [Int] = []

    /// A webhook's body, with when it was sent.
    package struct Webhook: Sendable {
        package var time: Instant
        package var body: JSONValue
    }

    struct Purchase: Sendable {
        var periods: [Period]
        var renews: Bool
        var state = State.running
    }

    enum State: Sendable, Hashable { case running, inGrace, retried, over, givenBack }

    struct Period: Sendable {
        var id: String
        var product: SimulatedProduct
        var start: Instant
        /// Nil: without end.
        var end: Instant?
        /// Until when access went on, or when it was taken away; nil: as it was sold.
        var effectiveEnd: Instant?
    }

    /// Makes an account that has bought nothing.
    package init(_ number: Int, of customer: CustomerID) {
        self.number = number
        self.customer = customer
    }

    /// How many purchases were made.
    package var purchaseCount: Int { purchases.count }

    /// How many transactions were made.
    package var transactionCount: Int { transactions.count }

    // MARK: Steps

    /// Buys a product.
    package mutating func buy(_ product: SimulatedProduct, at time: Instant) {
        purchases.append(Purchase(periods: [], renews: product.isRenewable))
        begin(purchases.count - 1, product, at: time)
        let type = product.isRenewable ? "INITIAL_PURCHASE" : "NON_RENEWING_PURCHASE"
        send(type, purchases.count - 1, at: time)
    }

    /// Renews: from the end on, or from now on where that lies behind.
    package mutating func renew(_ place: Int, at time: Instant) {
        guard let last = purchases[place].periods.last else { return }
        let isLate = purchases[place].state != .running
        begin(place, last.product, at: isLate ? time : last.end ?? time)
        send("RENEWAL", place, at: time)
    }

    /// Turns renewal off or on.
    package mutating func setRenewal(_ place: Int, _ isOn: Bool, at time: Instant) {
        purchases[place].renews = isOn
        let reason = isOn ? JSONValue.null : "UNSUBSCRIBE"
        send(
            isOn ? "UNCANCELLATION" : "CANCELLATION",
            place,
            at: time,
            .members(["cancel_reason": reason])
        )
    }

    /// The renewal is not paid; `grace`: until when access goes on; nil: it does not.
    package mutating func failRenewal(_ place: Int, graceUntil grace: Instant?, at time: Instant) {
        purchases[place].state = grace == nil ? .retried : .inGrace
        if let grace { changeLast(place) { $0.effectiveEnd = grace } }
        send(
            "BILLING_ISSUE",
            place,
            at: time,
            .members([
                "grace_period_expiration_at_ms": grace.map { .milliseconds($0) } ?? .null
            ])
        )
    }

    /// It has ended.
    package mutating func expire(_ place: Int, at time: Instant) {
        let isUnpaid = [.inGrace, .retried].contains(purchases[place].state)
        purchases[place].state = .over
        purchases[place].renews = false
        let reason: JSONValue = isUnpaid ? "BILLING_ERROR" : "UNSUBSCRIBE"
        send("EXPIRATION", place, at: time, .members(["expiration_reason": reason]))
    }

    /// Gives a transaction's price back, by its place among all.
    package mutating func refund(_ transaction: Int, at time: Instant) {
        let place = transactions[transaction]
        let id = SimulatedAppleAccount.id(transaction, ofAccount: number)
        guard let index = purchases[place].periods.firstIndex(where: { $0.id == id }) else {
            return
        }
        purchases[place].periods[index].effectiveEnd = time
        // Of an older period it sends nothing
        // (revenuecat.com/docs/integrations/webhooks/event-types-and-fields).
        guard index == purchases[place].periods.count - 1 else { return }
        purchases[place].state = .givenBack
        purchases[place].renews = false
        send(
            "CANCELLATION",
            purchases[place].periods[index],
            at: time,
            .members([
                "original_transaction_id": .optional(purchases[place].periods.first?.id),
                "cancel_reason": "CUSTOMER_SUPPORT",
            ])
        )
    }

    /// All goes to another customer, who restored it.
    package mutating func transfer(to taker: CustomerID, at time: Instant) {
        let event = JSONValue.members([
            "id": .string(nextID), "type": "TRANSFER", "event_timestamp_ms": .milliseconds(time),
            "store": "APP_STORE", "environment": "PRODUCTION",
            "transferred_from": .strings([customer.text]),
            "transferred_to": .strings([taker.text]),
        ])
        send(event, at: time)
        givers.append(customer)
        customer = taker
    }

    // MARK: Parts of steps

    private mutating func begin(_ place: Int, _ product: SimulatedProduct, at start: Instant) {
        let id = SimulatedAppleAccount.id(transactions.count, ofAccount: number)
        transactions.append(place)
        purchases[place].periods.append(
            Period(
                id: id,
                product: product,
                start: start,
                end: product.period.map { start.advanced(byMilliseconds: $0) }
            )
        )
        purchases[place].state = .running
        purchases[place].renews = product.isRenewable
    }

    private mutating func changeLast(_ place: Int, _ body: (inout Period) -> Void) {
        let last = purchases[place].periods.count - 1
        if last >= 0 { body(&purchases[place].periods[last]) }
    }

    private mutating func send(
        _ type: String,
        _ place: Int,
        at time: Instant,
        _ changes: JSONValue = .object([])
    ) {
        guard let last = purchases[place].periods.last else { return }
        let first = JSONValue.members([
            "original_transaction_id": .optional(purchases[place].periods.first?.id)
        ])
        send(type, last, at: time, first.changed(by: changes))
    }

    private mutating func send(
        _ type: String,
        _ period: Period,
        at time: Instant,
        _ changes: JSONValue
    ) {
        let event = JSONValue.members([
            "id": .string(nextID), "type": .string(type), "event_timestamp_ms": .milliseconds(time),
            "app_user_id": .string(customer.text), "original_app_user_id": .string(customer.text),
            "aliases": .strings([customer.text]), "product_id": .string(period.product.id),
            "period_type": "NORMAL", "purchased_at_ms": .milliseconds(period.start),
            "expiration_at_ms": period.end.map { .milliseconds($0) } ?? .null,
            "store": "APP_STORE", "environment": "PRODUCTION",
            "transaction_id": .string(period.id), "country_code": "US", "currency": "USD",
        ])
        send(event.changed(by: changes), at: time)
    }

    private mutating func send(_ event: JSONValue, at time: Instant) {
        let body = JSONValue.members(["api_version": "1.0", "event": event])
        webhooks.append(Webhook(time: time, body: body))
    }

    private var nextID: String { "webhook-\(number)-\(webhooks.count)" }
}
