import Encodings
import EntitlementLedger
import Entitlements
import LedgerAPI

extension SyncedPurchase {
    /// What came of asking about a purchase.
    init(_ purchase: PurchaseName, _ entry: FetchTally.Entry, after: StandingPurchase?) {
        self.init(
            purchase: purchase.description,
            outcome: Outcome(entry.code, appended: entry.appended),
            found: entry.found,
            appended: entry.appended,
            differences: after?.differences(from: entry.before) ?? [],
            code: entry.code
        )
    }

    /// Whether its store told all of it.
    var isAnswered: Bool { code == nil && found > 0 }

    /// With what came of asking about it under another name.
    func joined(with other: SyncedPurchase) -> SyncedPurchase {
        var joined = self
        joined.found += other.found
        joined.appended += other.appended
        joined.differences += other.differences.filter { !differences.contains($0) }
        joined.code = code ?? other.code
        joined.outcome = Outcome(joined.code, appended: joined.appended)
        return joined
    }

    /// The event that says so (P11); nil: its store told nothing.
    func draft(of purchase: PurchaseName, askedAt start: Instant) -> EventDraft? {
        guard found > 0 else { return nil }
        return EventDraft(
            subject: .purchase(purchase),
            time: start,
            data: EventData(
                appended > 0 ? .syncReconciled : .syncCompleted,
                [
                    .found: .integer(Int64(found)), .appended: .integer(Int64(appended)),
                    .differences: differences.isEmpty
                        ? nil : .text(differences.joined(separator: ", ")),
                ]
            )
        )
    }
}

extension SyncedPurchase.Outcome {
    fileprivate init(_ code: SyncedPurchase.Code?, appended: Int) {
        self =
            switch code {
            case .notConfigured: .notAsked
            case .some: .failed
            case nil: appended > 0 ? .reconciled : .completed
            }
    }
}

extension StandingPurchase {
    /// The members that are others than before, in `show`'s words, but for those that a sync itself
    /// sets; a purchase of which nothing was known is whole another.
    func differences(from before: StandingPurchase?) -> [String] {
        guard let before else { return ["purchase"] }
        let (old, new) = (before.state, state)
        let members: [(name: String, isSame: Bool)] = [
            ("owner", owner == before.owner),
            ("productId", new.productID.isSame(as: old.productID)),
            ("status", new.status == old.status),
            ("expiresAt", new.expiresAt == old.expiresAt),
            ("isVerified", new.isVerified == old.isVerified),
            ("willRenew", new.willRenew == old.willRenew),
            ("nextProductId", new.nextProductID.isSame(as: old.nextProductID)),
        ]
        return members.filter { !$0.isSame }.map(\.name)
    }
}

extension String? {
    /// Whether both are the same bytes, or none.
    fileprivate func isSame(as other: String?) -> Bool {
        switch (self, other) {
        case (nil, nil): true
        case (let text?, let other?): text.isSame(as: other)
        default: false
        }
    }
}
