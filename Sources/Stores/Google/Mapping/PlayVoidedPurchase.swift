import Crypto
import Encodings
import Entitlements

/// An entry of `purchases.voidedpurchases.list`: an order that was given back, with the purchase
/// (developers.google.com/android-publisher/api-ref/rest/v3/purchases.voidedpurchases).
struct PlayVoidedPurchase: Hashable, Sendable {
    private let entry: PlayObject
    private let token: String
    private let orderID: String
    /// Nil: what is said is absurd.
    private let voidedAt: Instant?
    /// When the list was read (T2).
    private let observedAt: Instant

    /// Reads an entry.
    init(_ json: JSONValue, observedAt: Instant) throws(SignalRefusal) {
        entry = PlayObject(json: json)
        guard let token = entry.identifier("purchaseToken") else {
            throw SignalRefusal(.missingField, "purchaseToken", "required")
        }
        guard let orderID = entry.identifier("orderId") else {
            throw SignalRefusal(.missingField, "orderId", "required")
        }
        guard entry[Self.time] != nil else {
            throw SignalRefusal(.missingField, Self.time, "required")
        }
        // Why it is absurd makes no difference.
        voidedAt = try? entry.instant(milliseconds: Self.time)
        self.token = token
        self.orderID = orderID
        self.observedAt = observedAt
    }

    /// The order and the moment: the list says the same for thirty days.
    var signalID: String {
        let time = voidedAt.map { String($0.milliseconds) } ?? "\(entry[Self.time] ?? .null)"
        let said = JSONValue.strings([token, orderID, time])
        return "voided/" + Hexadecimal.encode(SHA256.hash(data: Array(said.description.utf8)))
    }

    /// That order is taken away, be it an older one; a part of several takes nothing away.
    func drafts() -> [EventDraft] {
        guard let purchase = PurchaseName.play(token) else { return [] }
        guard let voidedAt else {
            // It is not known since when, so that nothing is taken away (Stores, rule 6).
            let detail = "\(Self.time) is absurd"
            return [PlayMapping.note("voided", on: purchase, at: observedAt, detail: detail)]
        }
        let data =
            entry["voidedQuantity"] == nil
            ? EventData(
                .revocationRefunded,
                [.transactionID: .text(orderID), .reason: reason.map { .text($0) }]
            ) : EventData(.signalNoted, [.name: .text("voided_in_part")])
        let links = PlayMapping.link(purchase, toOrder: orderID, at: voidedAt)
        return [
            EventDraft(
                subject: .purchase(purchase),
                time: voidedAt,
                observedAt: observedAt,
                data: data
            )
        ] + (data.kind == .revocationRefunded ? links : [])
    }

    private static let time = "voidedTimeMillis"

    /// Why; nil: a reason of tomorrow, or none.
    private var reason: String? { entry.integer("voidedReason").flatMap { Self.reasons[$0] } }

    private static let reasons: [Int64: String] = [
        0: "other", 1: "remorse", 2: "not_received", 3: "defective", 4: "accidental", 5: "fraud",
        6: "friendly_fraud", 7: "chargeback",
    ]
}
