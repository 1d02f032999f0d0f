import Encodings

/// Apple's two stores, in which a transaction is told as one of `app_store` (Model, "Events").
package enum AppleStore {
    private static let mac = "mac_app_store"

    /// The store under which purchases of a store stand.
    package static func canonical(_ store: String) -> String {
        store.isSame(as: mac) ? Source.appStore : store
    }

    /// The keys under which a catalog may give the product ids of a store (K9): its own, and the
    /// other one for Apple's.
    package static func keys(of store: String) -> (first: String, second: String?) {
        if store.isSame(as: Source.appStore) { return (store, mac) }
        return (store, store.isSame(as: mac) ? Source.appStore : nil)
    }
}
