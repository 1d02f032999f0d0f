package import Encodings
package import Entitlements

/// What one Google account buys of an app, step by step: what the Developer API answers about it, and
/// the notifications that hint at it.
///
/// A step happens at an instant; steps are taken in the order of time.
package struct SimulatedPlayAccount: Sendable {
    /// Its tokens and orders are made of it.
    private let number: Int
    let store: SimulatedPlayStore
    /// What the app says whose purchases they are; nil: nothing.
    let accountID: String?
    /// What was bought, by its order; a plan that takes another's place stands in its place.
    private(set) var purchases: [SimulatedPlayPurchase] = []
    /// Purchases whose place another one took.
    private(set) var replaced: [SimulatedPlayPurchase] = []
    /// What was paid so far, in the order in which it was.
    private(set) var orders: [Order] = []
    /// The orders that were given back, as `purchases.voidedpurchases` lists them.
    package private(set) var voided: [JSONValue] = []
    /// What Pub/Sub pushed so far, in the order of time.
    package private(set) var pushes: [Push] = []
    private var tokenCount = 0

    /// A push, with when it was sent.
    package struct Push: Sendable {
        package var time: Instant
        package var body: JSONValue
    }

    struct Order: Sendable {
        var id: String
        var token: String
        var time: Instant
        var isSubscription: Bool
    }

    /// Makes an account that has bought nothing; `accountID`: how the app names who uses it.
    package init(_ number: Int, accountID: String?, of store: SimulatedPlayStore) {
        self.number = number
        self.accountID = accountID
        self.store = store
    }

    /// How many purchases were made, those that took another's place not counted.
    package var purchaseCount: Int { purchases.count }

    /// How many orders were paid.
    package var orderCount: Int { orders.count }

    /// The token by which the app knows a purchase.
    package func token(_ place: Int) -> String { purchases[place].token }

    // MARK: Buying

    /// Buys a product; `next`: what it renews to, where the first period is a free trial.
    package mutating func buy(
        _ product: SimulatedProduct,
        quantity: Int = 1,
        at time: Instant,
        renewingTo next: SimulatedProduct? = nil
    ) {
        var purchase = newPurchase(of: product, at: time)
        purchase.quantity = quantity
        purchase.next = next
        purchases.append(purchase)
        pay(purchases.count - 1, from: time, at: time)
        tell(purchases.count - 1, Self.purchased, at: time)
    }

    /// Buys a product that is to be paid later, in cash say.
    package mutating func pend(_ product: SimulatedProduct, at time: Instant) {
        var purchase = newPurchase(of: product, at: time)
        purchase.state = .pending
        purchases.append(purchase)
        if purchase.isSubscription { tell(purchases.count - 1, Self.purchased, at: time) }
    }

    /// What was pending is paid.
    package mutating func pay(_ place: Int, at time: Instant) {
        purchases[place].start = time
        pay(place, from: time, at: time)
        tell(place, Self.purchased, at: time)
    }

    /// What was pending is given up.
    package mutating func abandon(_ place: Int, at time: Instant) {
        purchases[place].state = .abandoned
        tell(place, purchases[place].isSubscription ? Self.pendingCancelled : 2, at: time)
    }

    /// Renews from the end on, after a hold or a pause from now on.
    ///
    /// What is prepaid is topped up, by another token.
    package mutating func renew(_ place: Int, at time: Instant) {
        let purchase = purchases[place]
        if purchase.isPrepaid {
            let start = max(purchase.end ?? time, time)
            return replace(place, by: purchase.product, from: start, at: time)
        }
        if let next = purchase.next {
            purchases[place].product = next
            purchases[place].next = nil
        }
        let isStopped = [.onHold, .paused].contains(purchase.state)
        pay(place, from: isStopped ? time : purchase.paidEnd ?? time, at: time)
        tell(place, isStopped ? Self.recovered : Self.renewed, at: time)
    }

    /// Changes to a product that starts now, by another token, in place of the one that runs.
    package mutating func upgrade(_ place: Int, to product: SimulatedProduct, at time: Instant) {
        replace(place, by: product, from: time, at: time)
    }

    // MARK: Ending

    /// Turns renewal off or on.
    package mutating func setRenewal(_ place: Int, _ isOn: Bool, at time: Instant) {
        purchases[place].cancelledAt = isOn ? nil : time
        tell(place, isOn ? Self.restarted : Self.cancelled, at: time)
    }

    /// The renewal is not paid: grace until an instant; nil: on hold at once.
    package mutating func failRenewal(_ place: Int, graceUntil grace: Instant?, at time: Instant) {
        guard let grace else { return hold(place, at: time) }
        purchases[place].state = .inGrace
        purchases[place].end = grace
        tell(place, Self.inGrace, at: time)
    }

    /// Nothing is given until it is paid.
    package mutating func hold(_ place: Int, at time: Instant) {
        purchases[place].state = .onHold
        tell(place, Self.onHold, at: time)
    }

    /// Paused, until an instant or until the customer resumes it.
    package mutating func pause(_ place: Int, until: Instant?, at time: Instant) {
        purchases[place].state = .paused
        purchases[place].resumesAt = until
        tell(place, Self.paused, at: time)
    }

    /// It has ended.
    package mutating func expire(_ place: Int, at time: Instant) {
        purchases[place].state = .expired
        tell(place, Self.expired, at: time)
    }

    /// Taken back before its end.
    package mutating func revoke(_ place: Int, at time: Instant) {
        purchases[place].state = .expired
        purchases[place].end = time
        tell(place, Self.revoked, at: time)
    }

    // MARK: Giving back

    /// Gives an order back, by its place among all.
    package mutating func refund(_ place: Int, at time: Instant) {
        let order = orders[place]
        if !order.isSubscription { change(order.token) { $0.state = .givenBack } }
        void(order, isWhole: true, at: time)
        voided.append(
            .members([
                "kind": "androidpublisher#voidedPurchase", "orderId": .string(order.id),
                "purchaseToken": .string(order.token),
                "purchaseTimeMillis": .string(String(order.time.milliseconds)),
                "voidedTimeMillis": .string(String(time.milliseconds)),
                "voidedSource": .integer(1), "voidedReason": .integer(1),
            ])
        )
    }

    /// Gives one of several back that one order bought.
    package mutating func refundPart(_ place: Int, at time: Instant) {
        let order = orders[place]
        change(order.token) { $0.refunded += 1 }
        void(order, isWhole: false, at: time)
    }

    private mutating func void(_ order: Order, isWhole: Bool, at time: Instant) {
        send(
            .members([
                "voidedPurchaseNotification": .members([
                    "purchaseToken": .string(order.token), "orderId": .string(order.id),
                    "productType": .integer(order.isSubscription ? 1 : 2),
                    "refundType": .integer(isWhole ? 1 : 2),
                ])
            ]),
            at: time
        )
    }

    private mutating func change(_ token: String, _ body: (inout SimulatedPlayPurchase) -> Void) {
        for place in purchases.indices where purchases[place].token == token {
            body(&purchases[place])
        }
    }

    // MARK: Parts of steps

    private mutating func newPurchase(
        of product: SimulatedProduct,
        at time: Instant
    ) -> SimulatedPlayPurchase {
        tokenCount += 1
        return SimulatedPlayPurchase(
            token: "simulated-\(number)-\(tokenCount)",
            order: "GPA.3300-\(1_000_000 + number)-\(tokenCount)",
            product: product,
            start: time
        )
    }

    /// A period is paid.
    private mutating func pay(_ place: Int, from start: Instant, at time: Instant) {
        purchases[place].pay(from: start)
        let purchase = purchases[place]
        orders.append(
            Order(
                id: purchase.lastOrder,
                token: purchase.token,
                time: time,
                isSubscription: purchase.isSubscription
            )
        )
    }

    private mutating func replace(
        _ place: Int,
        by product: SimulatedProduct,
        from start: Instant,
        at time: Instant
    ) {
        var old = purchases[place]
        old.state = .replaced
        old.end = time
        replaced.append(old)
        purchases[place] = newPurchase(of: product, at: time)
        purchases[place].before = old.token
        pay(place, from: start, at: time)
        tell(place, Self.purchased, at: time)
        send(Self.expired, old.token, at: time)
    }

    /// Hints that something happened to a purchase.
    private mutating func tell(_ place: Int, _ type: Int, at time: Instant) {
        let purchase = purchases[place]
        guard !purchase.isSubscription else { return send(type, purchase.token, at: time) }
        send(
            .members([
                "oneTimeProductNotification": .members([
                    "version": "1.0", "notificationType": .integer(type == 2 ? 2 : 1),
                    "purchaseToken": .string(purchase.token), "sku": .string(purchase.product.id),
                ])
            ]),
            at: time
        )
    }

    private mutating func send(_ type: Int, _ token: String, at time: Instant) {
        pushes.append(
            Push(
                time: time,
                body: store.push(subscription: type, token: token, id: nextID, at: time)
            )
        )
    }

    private mutating func send(_ content: JSONValue, at time: Instant) {
        pushes.append(Push(time: time, body: store.push(content, id: nextID, at: time)))
    }

    private var nextID: String { "push-\(number)-\(pushes.count)" }
}

/// Types of notifications about subscriptions
/// (developer.android.com/google/play/billing/rtdn-reference).
extension SimulatedPlayAccount {
    private static let recovered = 1
    private static let renewed = 2
    private static let cancelled = 3
    private static let purchased = 4
    private static let onHold = 5
    private static let inGrace = 6
    private static let restarted = 7
    private static let paused = 10
    private static let revoked = 12
    private static let expired = 13
    private static let pendingCancelled = 20
}
