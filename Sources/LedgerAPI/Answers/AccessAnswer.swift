public import Entitlements

/// Whether a customer has a feature at T, as known at R, and what to buy where not: `can`.
public struct AccessAnswer: Provable {
    /// Whom, which point and which feature it is about.
    public var head: Head
    /// What is decided.
    public var decision: AccessDecision
    /// What asks the same question again and proves the answer (row Z11); nil: it was not asked
    /// for.
    public var token: String?

    /// Its members, in the order in which they are written.
    package static let fields = Fields("Access", "Access to one feature", Self.init) {
        Field(inline: \.head)
        Field(inline: \.decision)
        Field("token", \.token, .orNull(.text(.common(.token)))).echoed
    }

    /// The members before the decision: they echo the question.
    public struct Head: Described {
        /// Whom and which point it is about.
        public var question: QuestionEcho
        /// The feature's id.
        public var feature: String

        /// Echoes a question.
        package init(question: QuestionEcho, feature: String) {
            self.question = question
            self.feature = feature
        }

        /// Its members, in the order in which they are written.
        package static let fields = Fields("AccessQuestion", "A question", Self.init) {
            Field(inline: \.question)
            Field("feature", \.feature, .name)
        }
    }
}

extension AccessAnswer {
    /// An answer, whose token is made of its text.
    package init(_ question: QuestionEcho, feature: String, _ decision: AccessDecision) {
        self.init(
            head: Head(question: question, feature: feature),
            decision: decision,
            token: nil
        )
    }

    /// Whom and which point it is about.
    public var question: QuestionEcho { head.question }
    /// The feature's id.
    public var feature: String { head.feature }
    /// Access to it.
    public var access: FeatureAccess { decision.access }
    /// Products that open the gate (row 4.4).
    public var requiredProducts: [String] { decision.requiredProducts }
}

/// What is decided of one feature: the same for whoever is asked about at the same point.
public struct AccessDecision: Described {
    /// Access to the feature.
    public var access: FeatureAccess
    /// The next instant at which an answer about the customer changes without a new event (Z15);
    /// nil: never.
    public var validUntil: Instant?
    /// Products that open the gate (row 4.4); empty where it is open, or nothing does.
    public var requiredProducts: [String]

    /// Makes a decision.
    package init(access: FeatureAccess, validUntil: Instant?, requiredProducts: [String]) {
        self.access = access
        self.validUntil = validUntil
        self.requiredProducts = requiredProducts
    }

    /// Its members, in the order in which they are written.
    package static let fields = Fields("AccessDecision", "Access to one feature", Self.init) {
        Field(inline: \.access)
        Field(
            "validUntil",
            \.validUntil,
            .orNull(.instant),
            "The next instant at which the answer may change without a new event; null: never"
        ).since(2, before: nil)
        Field(
            "requiredProducts",
            \.requiredProducts,
            .list(.name),
            "Ids of the products that open the gate; empty where it is open, or nothing opens it"
        )
    }
}

extension AccessDecision {
    /// What a state decides of one of its features.
    ///
    /// `feature`: nil: the catalog in force does not list it. `gates`: of that catalog; nil: none
    /// is in force.
    package init(
        _ feature: CustomerState.FeatureState?,
        named id: String,
        validUntil: Instant?,
        gates: GateMap?,
        names: some AnswerNames
    ) throws {
        self.init(
            access: try FeatureAccess(feature ?? .absent(id), names: names),
            validUntil: validUntil,
            requiredProducts: feature?.isAllowed == true
                ? [] : gates?.products(opening: id) ?? []
        )
    }
}

/// A decision as the server keeps it: its text stands behind the echo of any question.
package struct KeptDecision: Described {
    /// What is decided.
    package var decision: AccessDecision
    /// Never there: a token belongs to one question.
    package var token: String?

    /// Keeps a decision.
    package init(_ decision: AccessDecision) { self.init(decision: decision, token: nil) }

    private init(decision: AccessDecision, token: String?) {
        self.decision = decision
        self.token = token
    }

    /// Its members, in the order in which they are written.
    package static let fields = Fields(
        "KeptDecision",
        "Access to one feature",
        Self.init(decision:token:)
    ) {
        Field(inline: \.decision)
        Field("token", \.token, .orNull(.text(.common(.token))))
    }
}
