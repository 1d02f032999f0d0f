import Encodings
import Entitlements
import LedgerAPI

/// How stores took it that they were asked about some purchases.
struct StoreReplies {
    /// Those that want no more questions for now.
    private(set) var holding: Set<Name> = []
    /// Those that answered no question, and why, by name: a key without rights lets no question through.
    private(set) var refusing: [(store: String, code: SyncedPurchase.Code)] = []
    /// Those that did not permit what was asked of a purchase: an account may read, and not acknowledge.
    private(set) var forbidding: Set<Name> = []

    init(_ purchases: [SyncedPurchase]) {
        let byStore = Dictionary(grouping: purchases) { purchase in
            String(purchase.purchase.prefix { $0 != "/" })
        }
        for (store, purchases) in byStore.sorted(by: { $0.key < $1.key }) {
            let codes = purchases.map { purchase in
                purchase.code.flatMap { $0.isOfTheStore ? $0 : nil }
            }
            if purchases.contains(where: { $0.code?.holdsUpAll == true }) {
                holding.insert(Name(store))
            }
            if codes.contains(.notPermitted) { forbidding.insert(Name(store)) }
            if !codes.contains(nil), let code = codes.first ?? nil {
                refusing.append((store, code))
            }
        }
    }
}

extension SyncedPurchase.Code {
    /// Whether it may say how the store is, not the purchase.
    fileprivate var isOfTheStore: Bool {
        switch self {
        case .notFound, .notConfigured, .rejected, .malformed: false
        case .unavailable, .rateLimited, .resting, .notPermitted: true
        }
    }
}
