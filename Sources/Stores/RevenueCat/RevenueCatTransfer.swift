import Encodings
import Entitlements

/// All purchases of one customer go to another: `TRANSFER`, and a redeemed purchase link.
///
/// Each list names one customer of RevenueCat's by all their ids
/// (revenuecat.com/docs/projects/restore-behavior). No purchase is named: the fold moves what the
/// givers own, also what becomes known later (C1).
struct RevenueCatTransfer: Hashable, Sendable {
    let takers: RevenueCatCustomers
    let givers: RevenueCatCustomers
    private let givingIDs: [CustomerID]

    /// `TRANSFER`.
    init(_ event: RevenueCatEvent) throws(InputFault) {
        try self.init(event, from: "transferred_from", to: "transferred_to")
    }

    /// `PURCHASE_REDEEMED`, which moves purchases only with the outcome `transfer`.
    init(redeemedBy event: RevenueCatEvent) throws(InputFault) {
        guard event.word("redemption_outcome") == "transfer" else {
            throw InputFault(unusable: "redemption_outcome is not a transfer")
        }
        try self.init(event, from: "redeemed_from", to: "redeemed_by")
    }

    private init(
        _ event: RevenueCatEvent,
        from: String,
        to: String
    ) throws(InputFault) {
        guard !event.isFromPaywall else { throw InputFault(unusable: "a paywall's own event") }
        takers = RevenueCatCustomers(listedAs: to, in: event)
        givers = RevenueCatCustomers(listedAs: from, in: event)
        _ = try event.required(takers.principal, to)
        let takerIDs = Set(takers.all)
        givingIDs = givers.all.filter { !takerIDs.contains($0) }
        guard !givingIDs.isEmpty else {
            throw InputFault(unusable: "\(from) is missing or not valid")
        }
    }

    /// One transfer for every hundred ids.
    func drafts(statedAt: Instant) -> [EventDraft] {
        guard let taker = takers.principal else { return [] }
        let limit = FieldShape.customerLimit
        return stride(from: 0, to: givingIDs.count, by: limit).map { start in
            let ids = givingIDs[start..<min(start + limit, givingIDs.count)].map(\.text)
            return EventDraft(
                subject: .customer(taker),
                time: statedAt,
                data: EventData(.customerTransferred, [.from: .texts(ids)])
            )
        }
    }
}
