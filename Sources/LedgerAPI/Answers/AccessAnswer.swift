public import Entitlements

/// Whether a customer has a feature at T, as known at R, and what to buy where not: `can`.
public struct AccessAnswer: Provable {
    /// Whom and which point it is about.
    public var question: QuestionEcho
    /// The feature's id.
    public var feature: String
    /// Access to it.
    public var access: FeatureAccess
    /// Products that open the gate (row 4.4); empty where it is open, or nothing does.
    public var requiredProducts: [String]
    /// What asks the same question again and proves the answer (row Z11).
    public var token: String?

    /// Its members, in the order in which they are written.
    public static let fields = Fields("Access", "Access to one feature", Self.init) {
        Field(inline: \.question)
        Field("feature", \.feature, .name)
        Field(inline: \.access)
        Field(
            "requiredProducts",
            \.requiredProducts,
            .list(.name),
            "Ids of the products that open the gate; empty where it is open, or nothing opens it"
        )
        Field("token", \.token, .token).echoed
    }
}

extension AccessAnswer {
    /// An answer, whose token is made of its text.
    public init(
        _ question: QuestionEcho,
        feature: String,
        _ access: FeatureAccess,
        requiredProducts: [String]
    ) {
        self.init(
            question: question,
            feature: feature,
            access: access,
            requiredProducts: requiredProducts,
            token: nil
        )
    }
}

/// Whether a customer has a feature, as the server's check says it: of what changes with the clock
/// it holds T alone.
public struct FeatureAnswer: Described {
    /// What was asked.
    public var head: Head
    /// Access to it.
    public var access: FeatureAccess

    /// Its members, in the order in which they are written.
    public static let fields = Fields("FeatureAnswer", "Access to one feature", Self.init) {
        Field(inline: \.head)
        Field(inline: \.access)
    }

    /// The members before those of the access: only they differ between two calls.
    public struct Head: Described {
        /// Any of the customer's names.
        public var customer: String
        /// The feature's id.
        public var feature: String
        /// The effective instant that is asked about (T).
        public var at: Instant

        /// Echoes what was asked.
        public init(customer: String, feature: String, at: Instant) {
            self.customer = customer
            self.feature = feature
            self.at = at
        }

        /// Its members, in the order in which they are written.
        public static let fields = Fields("FeatureQuestion", "A question", Self.init) {
            Field("customer", \.customer, .identifier)
            Field("feature", \.feature, .name)
            Field("at", \.at, .instant)
        }
    }
}
