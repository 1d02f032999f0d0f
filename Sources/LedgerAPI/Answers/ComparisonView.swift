package import Encodings
package import Entitlements

/// What a ledger is compared by before anybody is: `GET /v1/comparison`.
package struct ComparisonGround: Described {
    /// Size of the prefix that it is told from.
    package var sequence: UInt64
    /// What was published, in the log's order.
    package var catalogs: [Published]
    /// A name of everybody whom the ledger knows; nil: it was not asked for.
    package var customers: [String]?

    /// A catalog that was published.
    package struct Published: Described {
        /// From when on it stands.
        package var effective: Instant
        /// The catalog.
        package var document: JSONValue

        /// Makes one.
        package init(effective: Instant, document: JSONValue) {
            self.effective = effective
            self.document = document
        }

        /// Its members, in the order in which they are written.
        package static let fields = Fields(
            "PublishedDocument",
            "A catalog that was published",
            Self.init
        ) {
            Field("effective", \.effective, .instant, "From when on it stands")
            Field("document", \.document, .document("The catalog"))
        }
    }

    /// Makes an answer.
    package init(sequence: UInt64, catalogs: [Published], customers: [String]?) {
        self.sequence = sequence
        self.catalogs = catalogs
        self.customers = customers
    }

    /// Its members, in the order in which they are written.
    package static let fields = Fields(
        "ComparisonGround",
        "What a ledger is compared by",
        Self.init
    ) {
        Field("sequence", \.sequence, .count)
        Field("catalogs", \.catalogs, .list(.object), "In the log's order")
        Field("customers", \.customers, .orAbsent(.list(.identifier)), "A name of everybody")
    }
}

/// A customer as somebody else knows them.
package struct KnownElsewhere: Described {
    /// All their names there; never empty.
    package var names: [String]
    /// Purchases that they have there, and of which it is asked why they have them not here.
    package var purchases: [String]

    /// Makes one.
    package init(names: [String], purchases: [String]) {
        self.names = names
        self.purchases = purchases
    }

    /// Its members, in the order in which they are written.
    package static let fields = Fields(
        "KnownElsewhere",
        "A customer as somebody else knows them",
        Self.init
    ) {
        Field("names", \.names, .list(.identifier))
        Field("purchases", \.purchases, .list(.source))
    }
}

/// Customers whom somebody else knows: the body of `POST /v1/comparison`.
package struct ComparisonQuestion: Described {
    /// They.
    package var customers: [KnownElsewhere]

    /// Customers of one question, at most.
    package static let customerLimit = 256

    /// Makes a question.
    package init(customers: [KnownElsewhere]) { self.customers = customers }

    /// Its members, in the order in which they are written.
    package static let fields = Fields(
        "ComparisonQuestion",
        "Customers whom somebody else knows",
        Self.init
    ) {
        Field("customers", \.customers, .list(.object))
    }
}

/// What a ledger says of customers whom somebody else knows, in the order of the question.
package struct ComparisonView: Described {
    /// What it says of each.
    package var customers: [SeenCustomer]

    /// Makes an answer.
    package init(customers: [SeenCustomer]) { self.customers = customers }

    /// What it says of each who was asked about; nil: it passes over somebody.
    package func whole(of question: ComparisonQuestion) -> [SeenCustomer]? {
        let isWhole =
            customers.count == question.customers.count
            && customers.allSatisfy { seen in
                !seen.accounts.isEmpty && !seen.accounts.contains { $0.names.isEmpty }
            }
        return isWhole ? customers : nil
    }

    /// Its members, in the order in which they are written.
    package static let fields = Fields(
        "ComparisonView",
        "What a ledger says of customers whom somebody else knows",
        Self.init
    ) {
        Field("customers", \.customers, .list(.object))
    }
}

/// What a ledger says of a customer whom somebody else knows.
package struct SeenCustomer: Described {
    /// Each customer whom one of the names is of, or whom the first would be where none is known.
    package var accounts: [Account]
    /// Why purchases are not theirs.
    package var absences: [AbsentPurchase]

    /// A customer of the ledger.
    package struct Account: Described {
        /// All names, first one that was asked about.
        package var names: [String]
        /// What they have.
        package var state: StateContent

        /// Makes one.
        package init(names: [String], state: StateContent) {
            self.names = names
            self.state = state
        }

        /// Its members, in the order in which they are written.
        package static let fields = Fields(
            "ComparedAccount",
            "A customer of the ledger",
            Self.init
        ) {
            Field("names", \.names, .list(.identifier))
            Field("state", \.state, .object)
        }
    }

    /// Makes one.
    package init(accounts: [Account], absences: [AbsentPurchase]) {
        self.accounts = accounts
        self.absences = absences
    }

    /// Its members, in the order in which they are written.
    package static let fields = Fields(
        "SeenCustomer",
        "What a ledger says of a customer whom somebody else knows",
        Self.init
    ) {
        Field("accounts", \.accounts, .list(.object))
        Field("absences", \.absences, .list(.object))
    }
}

/// Why a purchase that a customer has elsewhere is not among the customer's.
package struct AbsentPurchase: Described {
    /// The purchase.
    package var purchase: String
    /// Why.
    package var reason: Reason
    /// The name by which another customer has it, of `alias`; else nil.
    package var name: String?

    /// Why.
    package enum Reason: String, CaseIterable, Sendable {
        /// Another name of the customer has it, which is another customer's here.
        case alias
        /// Another customer has it, or nobody.
        case owner
        /// It belongs to another environment.
        case sandbox
        /// Nothing is known of it.
        case missing
    }

    /// Makes one.
    package init(purchase: String, reason: Reason, name: String? = nil) {
        self.purchase = purchase
        self.reason = reason
        self.name = name
    }

    /// Its members, in the order in which they are written.
    package static let fields = Fields(
        "AbsentPurchase",
        "Why a purchase is not a customer's",
        Self.init
    ) {
        Field("purchase", \.purchase, .source)
        Field("reason", \.reason, .word)
        Field("name", \.name, .orNull(.identifier), "By which another has it, of alias")
    }
}
