import Encodings
import Entitlements

/// All transactions of one subscription, as far as they were told
/// (`GET /v2/projects/{project_id}/subscriptions/{subscription_id}/transactions`).
struct RevenueCatTransactions: Hashable, Sendable {
    /// By their starts.
    private let entries: [Entry]

    struct Entry: Hashable, Sendable {
        var id: String
        var productID: String?
        var start: Instant
        var end: StatedEnd
        var graceUntil: Instant?

        /// One that failed ends before it starts.
        fileprivate var isValid: Bool { end.instant.map { start <= $0 } ?? true }
    }

    /// Those told beside a list; none where they were not.
    ///
    /// - Throws: `InputFault` for an instant that is absurd.
    init(of subscription: PayloadObject, in answer: RevenueCatAnswer) throws(InputFault) {
        let pages = subscription.text("id").flatMap { answer.transactions[Name($0)]?.array } ?? []
        var entries: [Entry] = []
        for fields in pages.flatMap({ PayloadObject(json: $0).objects("items") }) {
            guard let id = fields.identifier("id"),
                let start = try fields.instant(milliseconds: "purchased_at")
            else { continue }
            entries.append(try Self.entry(id, start, fields))
        }
        self.entries = entries.sorted {
            ($0.start, $0.id.utf8.count) < ($1.start, $1.id.utf8.count)
        }
    }

    private static func entry(
        _ id: String,
        _ start: Instant,
        _ fields: PayloadObject
    ) throws(InputFault) -> Entry {
        let end = try fields.end(milliseconds: "expiration_date")
        let effective = try fields.end(milliseconds: "effective_expiration_date").instant
        var entry = Entry(
            id: id,
            productID: fields.name("product_store_identifier"),
            start: start,
            end: end
        )
        if let stated = end.instant, let effective {
            if effective < stated { entry.end = .at(effective) }
            if effective > stated { entry.graceUntil = effective }
        }
        return entry
    }

    /// The id of the first one; nil: that is not told.
    var first: String? { entries.first?.id }

    /// The one of an id; nil: it was not told.
    func entry(_ id: String) -> Entry? { entries.last { $0.id.isSame(as: id) } }

    /// The periods of all others that say when they end.
    ///
    /// `period`: the latest one, whose customer and kind they share.
    func earlier(than id: String, like period: RevenueCatPeriod) -> [RevenueCatPeriod] {
        entries.filter { !$0.id.isSame(as: id) && $0.end != .unstated && $0.isValid }
            .map { entry in
                RevenueCatPeriod(
                    transactionID: entry.id,
                    productID: entry.productID ?? period.productID,
                    productKind: period.productKind,
                    start: entry.start,
                    end: entry.end,
                    graceUntil: entry.graceUntil,
                    ownership: period.ownership,
                    storefront: period.storefront,
                    account: period.account
                )
            }
    }
}
