import Encodings
public import Entitlements

/// Customers by tier, and what they own by status and product.
public struct CustomersAnswer: ReportAnswer {
    /// What was asked.
    public var question: ReportEcho
    /// Every customer once, by their highest tier.
    public var tiers: [Tier]
    /// What is owned at T, by status.
    public var statuses: [Status]
    /// What is owned at T, by product and status.
    public var products: [Product]
    /// Products beyond the limit, left out.
    public var omitted: Int

    /// Which report.
    package static var kind: ReportKind { .customers }
    /// It raises none.
    package var alerts: Int? { nil }

    /// Its tables.
    package var tables: [NamedRows] {
        [
            NamedRows("tiers", tiers), NamedRows("statuses", statuses),
            NamedRows("products", products),
        ]
    }

    /// Its members, in the order in which they are written.
    package static let fields = Fields(
        kind.component,
        "Customers by tier, and what they own by status and product",
        { _, question, tiers, statuses, products, omitted in
            Self(
                question: question,
                tiers: tiers,
                statuses: statuses,
                products: products,
                omitted: omitted
            )
        }
    ) {
        kindField
        Field(inline: \.question)
        Field("tiers", \.tiers, .list(.object), "Every customer once, by their highest tier")
        Field("statuses", \.statuses, .list(.object), "What is owned at `at`")
        Field("products", \.products, .list(.object))
        omittedField
    }

    /// Customers of a tier.
    public struct Tier: Described {
        /// The tier's name.
        public var tier: String
        /// Customers whose highest it is (K7).
        public var customers: Int

        /// Its members, in the order in which they are written.
        package static let fields = Fields("CustomersOfTier", "Customers of a tier", Self.init) {
            Field("tier", \.tier, .name)
            Field("customers", \.customers, .count)
        }
    }

    /// What is owned in a status (P9).
    public struct Status: Described {
        /// The status at T.
        public var status: PurchaseStatus
        /// Customers who own something in it.
        public var customers: Int
        /// What they own.
        public var purchases: Int

        /// Its members, in the order in which they are written.
        package static let fields = Fields("OwnedInStatus", "What is owned in a status", Self.init)
        {
            Field("status", \.status, .word)
            Field("customers", \.customers, .count)
            Field("purchases", \.purchases, .count)
        }
    }

    /// What is owned of a product in a status.
    public struct Product: Described {
        /// The store; nil: nothing says it.
        public var store: String?
        /// The store's product id; nil: there is no period at T (P9).
        public var productID: String?
        /// The status at T.
        public var status: PurchaseStatus
        /// Customers who own it.
        public var customers: Int
        /// What they own of it.
        public var purchases: Int

        /// Its members, in the order in which they are written.
        package static let fields = Fields(
            "OwnedOfProduct",
            "What is owned of a product in a status",
            Self.init
        ) {
            Field("store", \.store, .orNull(.text(.common(.store))))
            Field("productId", \.productID, .orNull(.name))
            Field("status", \.status, .word)
            Field("customers", \.customers, .count)
            Field("purchases", \.purchases, .count)
        }
    }
}

extension CustomersAnswer {
    /// The answer of what was counted.
    package init(_ question: ReportEcho, _ report: CustomerReport) {
        let products = report.products.sorted { $0.key.order < $1.key.order }
        self.init(
            question: question,
            tiers: report.tiers.sorted { $0.key < $1.key }.map {
                Tier(tier: $0.key.text, customers: $0.value)
            },
            statuses: report.statuses.sorted { $0.key.rawValue < $1.key.rawValue }.map {
                Status(status: $0, customers: $1.customers, purchases: $1.purchases)
            },
            products: products.prefix(NamedRows.limit).map { product, owned in
                Product(
                    store: product.store,
                    productID: product.productID,
                    status: product.status,
                    customers: owned.customers,
                    purchases: owned.purchases
                )
            },
            omitted: max(0, products.count - NamedRows.limit)
        )
    }
}

extension CustomerReport.Product {
    fileprivate var order: (Name, Name, String) {
        (Name(store ?? ""), Name(productID ?? ""), status.rawValue)
    }
}
