package import Encodings
package import Entitlements

/// What one Apple Account buys of an app, step by step: the transactions and renewals that the App
/// Store's API answers with, and the notifications that it sends.
///
/// A step happens at an instant; steps are taken in the order of time. What is signed, is signed by
/// whoever sends or answers.
package struct SimulatedAppleAccount: Sendable {
    /// Its ids are made of it.
    private let number: Int
    /// What the app says from now on whose purchases they are; nil: nothing.
    package var accountToken: String?
    /// Where it buys.
    let store: SimulatedAppStore
    /// Payloads in the order in which they were changed last.
    package private(set) var transactions: [JSONValue] = []
    /// Payloads as they were at first, in the order in which they were made: what an app may have kept.
    package private(set) var originals: [JSONValue] = []
    /// Subscriptions by their order.
    private(set) var subscriptions: [Subscription] = []
    /// What was sent so far, in the order of time.
    package private(set) var notifications: [Notification] = []
    private var count = 0

    /// A notification, to be signed.
    package struct Notification: Sendable {
        package var time: Instant
        package var id: String
        package var type: String
        package var subtype: String?
        package var transaction: JSONValue
        package var renewalInfo: JSONValue?
    }

    /// What is sold.
    package typealias Product = SimulatedProduct

    struct Subscription: Sendable {
        var originalID: String
        var product: Product
        var next: Product
        var end: Instant
        var renews = true
        var isRetried = false
        var graceUntil: Instant?
        var intent: Int64?
        /// Whether it was said that it is over.
        var isOver = false
        /// Its last transaction's id.
        var last: String
    }

    /// Makes an account that has bought nothing.
    package init(_ number: Int, token accountToken: String?, of store: SimulatedAppStore) {
        self.number = number
        self.accountToken = accountToken
        self.store = store
    }

    /// How its subscriptions stand: each one's last transaction and renewal info.
    package var statuses: [(transaction: JSONValue, renewalInfo: JSONValue)] {
        subscriptions.compactMap { subscription in
            transaction(subscription.last).map { ($0, renewalInfo(subscription)) }
        }
    }

    /// How many subscriptions were bought.
    package var subscriptionCount: Int { subscriptions.count }

    /// A subscription's place, and the end of its last period; nil: it is none.
    func subscription(_ originalID: String) -> (place: Int, end: Instant)? {
        subscriptions.firstIndex { $0.originalID == originalID }
            .map { ($0, subscriptions[$0].end) }
    }

    // MARK: Buying

    /// Buys a product; `next`: what it renews to, if that is another one.
    package mutating func buy(
        _ product: Product,
        at time: Instant,
        renewingTo next: Product? = nil,
        _ changes: JSONValue = .object([])
    ) {
        let id = nextID()
        add(product, id: id, originalID: id, start: time, "PURCHASE", changes)
        guard let period = product.period, product.isRenewable else {
            return send("ONE_TIME_CHARGE", nil, id, nil, at: time)
        }
        subscriptions.append(
            Subscription(
                originalID: id,
                product: product,
                next: next ?? product,
                end: time.advanced(byMilliseconds: period),
                last: id
            )
        )
        send("SUBSCRIBED", "INITIAL_BUY", id, subscriptions.count - 1, at: time)
    }

    /// Buys a subscription again that has ended.
    package mutating func resubscribe(_ place: Int, at time: Instant) {
        begin(place, subscriptions[place].next, at: time, "PURCHASE")
        send("SUBSCRIBED", "RESUBSCRIBE", subscriptions[place].last, place, at: time)
    }

    /// Renews a subscription: from its end on, or from now on where that lies behind.
    package mutating func renew(_ place: Int, at time: Instant) {
        let subscription = subscriptions[place]
        let isRecovered = subscription.isRetried
        let start = isRecovered ? time : subscription.end
        begin(place, subscription.next, at: start, "RENEWAL")
        send(
            "DID_RENEW",
            isRecovered ? "BILLING_RECOVERY" : nil,
            subscriptions[place].last,
            place,
            at: time
        )
    }

    /// Changes to a product that starts now, in place of the one that runs.
    package mutating func upgrade(_ place: Int, to product: Product, at time: Instant) {
        change(subscriptions[place].last, .members(["isUpgraded": .bool(true)]))
        begin(place, product, at: time, "PURCHASE")
        send("DID_CHANGE_RENEWAL_PREF", "UPGRADE", subscriptions[place].last, place, at: time)
    }

    /// Changes to a product that starts with the next renewal.
    package mutating func downgrade(_ place: Int, to product: Product, at time: Instant) {
        subscriptions[place].next = product
        send("DID_CHANGE_RENEWAL_PREF", "DOWNGRADE", subscriptions[place].last, place, at: time)
    }

    // MARK: Ending

    /// Turns renewal off or on.
    package mutating func setRenewal(_ place: Int, _ isOn: Bool, at time: Instant) {
        subscriptions[place].renews = isOn
        let subtype = isOn ? "AUTO_RENEW_ENABLED" : "AUTO_RENEW_DISABLED"
        send("DID_CHANGE_RENEWAL_STATUS", subtype, subscriptions[place].last, place, at: time)
    }

    /// The renewal is not paid; `grace`: until when access goes on; nil: it does not.
    package mutating func failRenewal(_ place: Int, graceUntil grace: Instant?, at time: Instant) {
        subscriptions[place].isRetried = true
        subscriptions[place].graceUntil = grace
        subscriptions[place].intent = 2
        let subtype = grace == nil ? nil : "GRACE_PERIOD"
        send("DID_FAIL_TO_RENEW", subtype, subscriptions[place].last, place, at: time)
    }

    /// The grace is over, and nothing is paid: nothing tells of it any more.
    package mutating func endGrace(_ place: Int, at time: Instant) {
        subscriptions[place].graceUntil = nil
        send("GRACE_PERIOD_EXPIRED", nil, subscriptions[place].last, place, at: time)
    }

    /// The subscription has ended.
    package mutating func expire(_ place: Int, at time: Instant) {
        let isUnpaid = subscriptions[place].isRetried
        subscriptions[place].isRetried = false
        subscriptions[place].intent = isUnpaid ? 2 : 1
        subscriptions[place].renews = false
        subscriptions[place].isOver = true
        let subtype = isUnpaid ? "BILLING_RETRY" : "VOLUNTARY"
        send("EXPIRED", subtype, subscriptions[place].last, place, at: time)
    }

    /// The end is moved to a later one.
    package mutating func extend(_ place: Int, to end: Instant, at time: Instant) {
        subscriptions[place].end = end
        change(subscriptions[place].last, .members(["expiresDate": .milliseconds(end)]))
        send("RENEWAL_EXTENDED", nil, subscriptions[place].last, place, at: time)
    }

    /// An end that was moved because somebody asked the App Store to, and what it tells of that.
    struct MovedEnd: Sendable {
        /// The id of the period's transaction.
        var period: String
        var end: Instant
        var notification: Notification
    }

    /// What moving a subscription's end comes to, told under an id that no step of the account has.
    func movedEnd(_ place: Int, to end: Instant, at time: Instant) -> MovedEnd? {
        var moved = self
        moved.extend(place, to: end, at: time)
        guard var told = moved.notifications.last else { return nil }
        let period = subscriptions[place].last
        told.id = "\(period)-\(end.milliseconds)"
        return MovedEnd(period: period, end: end, notification: told)
    }

    /// Has a period end where it was moved to, whatever came behind it.
    mutating func take(_ moved: MovedEnd) {
        change(moved.period, .members(["expiresDate": .milliseconds(moved.end)]))
        if let place = subscriptions.firstIndex(where: { $0.last == moved.period }) {
            subscriptions[place].end = moved.end
        }
        notifications.append(moved.notification)
    }

    // MARK: Taking back

    /// Gives a transaction's price back.
    ///
    /// `transaction`: its place among all, from 0 on, in the order in which they were made.
    package mutating func refund(_ transaction: Int, at time: Instant) {
        revoke(transaction, "REFUND", .members(["revocationReason": .integer(0)]), at: time)
    }

    /// Takes a refund back.
    package mutating func reverseRefund(_ transaction: Int, at time: Instant) {
        let id = id(transaction)
        change(id, .members(["revocationDate": .null, "revocationReason": .null]))
        send("REFUND_REVERSED", nil, id, place(of: id), at: time)
    }

    /// The family's purchase is no longer shared.
    package mutating func leaveFamily(_ transaction: Int, at time: Instant) {
        let shared = JSONValue.members([
            "inAppOwnershipType": "FAMILY_SHARED", "revocationType": "FAMILY_REVOKE",
            "revocationReason": .integer(0),
        ])
        revoke(transaction, "REVOKE", shared, at: time)
    }

    private mutating func revoke(
        _ transaction: Int,
        _ type: String,
        _ changes: JSONValue,
        at time: Instant
    ) {
        let id = id(transaction)
        change(id, changes.changed(by: .members(["revocationDate": .milliseconds(time)])))
        send(type, nil, id, place(of: id), at: time)
    }

    /// Something that changes nothing.
    package mutating func note(_ type: String, _ subtype: String?, _ place: Int, at time: Instant) {
        send(type, subtype, subscriptions[place].last, place, at: time)
    }

    // MARK: Payloads

    private func id(_ transaction: Int) -> String { Self.id(transaction, ofAccount: number) }

    /// The id of a transaction, by its place among those of an account.
    static func id(_ transaction: Int, ofAccount number: Int) -> String {
        "2\(number * 1_000_000 + 100_000_000 + transaction + 1)"
    }

    private mutating func nextID() -> String {
        defer { count += 1 }
        return id(count)
    }

    private mutating func begin(
        _ place: Int,
        _ product: Product,
        at start: Instant,
        _ reason: String
    ) {
        let id = nextID()
        let originalID = subscriptions[place].originalID
        add(product, id: id, originalID: originalID, start: start, reason, .object([]))
        subscriptions[place] = Subscription(
            originalID: originalID,
            product: product,
            next: product,
            end: start.advanced(byMilliseconds: product.period ?? 0),
            last: id
        )
    }

    private mutating func add(
        _ product: Product,
        id: String,
        originalID: String,
        start: Instant,
        _ reason: String,
        _ changes: JSONValue
    ) {
        let end = product.period.map { JSONValue.milliseconds(start.advanced(byMilliseconds: $0)) }
        let payload = store.transactionPayload(
            start: start,
            .members([
                "transactionId": .string(id), "originalTransactionId": .string(originalID),
                "webOrderLineItemId": .string("1" + id), "productId": .string(product.id),
                "type": .string(product.type), "expiresDate": end ?? .null,
                "subscriptionGroupIdentifier": product.isRenewable ? "21000001" : .null,
                "originalPurchaseDate": .milliseconds(originalStart(originalID) ?? start),
                "price": .integer(product.price), "transactionReason": .string(reason),
                "appAccountToken": .optional(accountToken),
                "appTransactionId": .string("70400000\(number)"),
            ])
        )
        transactions.append(payload.changed(by: changes))
        originals.append(payload.changed(by: changes))
    }

    private func originalStart(_ originalID: String) -> Instant? {
        transaction(originalID)?["purchaseDate"]?.integer.map { Instant(milliseconds: $0) }
    }

    private func transaction(_ id: String) -> JSONValue? {
        transactions.first { $0["transactionId"]?.string == id }
    }

    /// What is changed comes last in its history, as the App Store sorts it.
    private mutating func change(_ id: String, _ changes: JSONValue) {
        guard let place = transactions.firstIndex(where: { $0["transactionId"]?.string == id })
        else { return }
        transactions.append(transactions.remove(at: place).changed(by: changes))
    }

    private func place(of id: String) -> Int? {
        let originalID = transaction(id)?["originalTransactionId"]?.string
        return subscriptions.firstIndex { $0.originalID == originalID }
    }

    private func renewalInfo(_ subscription: Subscription) -> JSONValue {
        store.renewalPayload(
            start: originalStart(subscription.originalID) ?? subscription.end,
            .members([
                "originalTransactionId": .string(subscription.originalID),
                "productId": .string(subscription.product.id),
                "autoRenewProductId": .string(subscription.next.id),
                "autoRenewStatus": .integer(subscription.renews ? 1 : 0),
                "renewalDate": .milliseconds(subscription.end),
                "renewalPrice": .integer(subscription.next.price),
                "isInBillingRetryPeriod": subscription.isRetried ? .bool(true) : .null,
                "gracePeriodExpiresDate": subscription.graceUntil.map { .milliseconds($0) }
                    ?? .null,
                "expirationIntent": subscription.intent.map { .integer($0) } ?? .null,
                "appTransactionId": .string("70400000\(number)"),
            ])
        )
    }

    private mutating func send(
        _ type: String,
        _ subtype: String?,
        _ transactionID: String,
        _ place: Int?,
        at time: Instant
    ) {
        guard let transaction = transaction(transactionID) else { return }
        notifications.append(
            Notification(
                time: time,
                id: "\(number)-\(notifications.count)",
                type: type,
                subtype: subtype,
                transaction: transaction,
                renewalInfo: place.map { renewalInfo(subscriptions[$0]) }
            )
        )
    }
}

extension SimulatedAppStore {
    /// Signs a notification as it is sent.
    package func signed(_ notification: SimulatedAppleAccount.Notification) throws -> [UInt8] {
        let signedAt = JSONValue.members(["signedDate": .milliseconds(notification.time)])
        return try authority.sign(
            notificationPayload(
                notification.type,
                notification.subtype,
                id: notification.id,
                signedAt: notification.time,
                transaction: authority.sign(notification.transaction.changed(by: signedAt)),
                renewalInfo: notification.renewalInfo.map {
                    try authority.sign($0.changed(by: signedAt))
                }
            )
        )
    }
}
