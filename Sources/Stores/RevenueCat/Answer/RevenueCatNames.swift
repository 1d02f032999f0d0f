import Encodings
import Entitlements

/// What names a purchase for life, as far as an answer tells.
///
/// Webhooks name it by its first transaction. RevenueCat writes renewals of Google Play, and of stores
/// whose ids it makes itself, as the first order with `..0`, `..1`, … behind it; of the App Store it may
/// tell the latest transaction alone.
struct RevenueCatNames: Hashable, Sendable {
    let purchase: PurchaseName
    let transactionID: String
    /// Whether the purchase is known by its first transaction; else it is called by this one, which
    /// belongs to no other purchase.
    let isFirstKnown: Bool

    /// Names the purchase of a transaction by the store's id of it.
    ///
    /// `first`: that of the first one; nil: it is not told. `isFirst`: whether it is known to be this one.
    init(store: String, transactionID: String, first: String? = nil, isFirst: Bool = false) {
        let base = PlayOrder(first ?? transactionID).base
        self.transactionID = transactionID
        purchase = PurchaseName(store: store, originalID: base)
        isFirstKnown =
            isFirst || first != nil || store == Source.playStore
            || !PlayOrder(transactionID).isFirst
    }

    /// Whether the transaction is the first one.
    var isFirst: Bool { isFirstKnown && transactionID.isSame(as: purchase.originalID) }
}

extension PayloadFields {
    /// The store that `store` names, in lower snake case, Apple's as one; nil if it is none.
    var store: String? {
        guard let store = text("store")?.lowercased(), Identifier.isStore(store) else { return nil }
        return AppleStore.canonical(store)
    }
}
