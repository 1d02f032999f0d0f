/// What RevenueCat shows together: its offerings, a second source of what is sold (row 1.3).
///
/// The ledger's own offerings are the catalog's (``Offering``).
package struct StoreOffering: Hashable, Sendable {
    /// The id by which apps ask for it.
    package var id: String
    /// What its makers call it; nil: nothing.
    package var name: String?
    /// Whether it is shown where no other is asked for.
    package var isCurrent: Bool
    /// What can be chosen, in its order.
    package var packages: [Package]

    /// Names an offering.
    package init(id: String, name: String?, isCurrent: Bool, packages: [Package]) {
        self.id = id
        self.name = name
        self.isCurrent = isCurrent
        self.packages = packages
    }

    /// A choice: the same thing in each store.
    package struct Package: Hashable, Sendable {
        /// Its id in the offering, such as `$rc_monthly`.
        package var id: String
        /// What its makers call it; nil: nothing.
        package var name: String?
        /// Its products: `STORE/PRODUCT_ID`.
        package var products: [String]

        /// Names a choice.
        package init(id: String, name: String?, products: [String]) {
            self.id = id
            self.name = name
            self.products = products
        }
    }
}
