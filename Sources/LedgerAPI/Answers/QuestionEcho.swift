public import Entitlements

/// The members that every answer about a customer begins with.
public struct QuestionEcho: Described {
    /// Any of the customer's names; nil: it is masked, and nothing was recorded of them.
    public var customer: String?
    /// The environment that was asked about.
    public var environment: StoreEnvironment
    /// The effective instant that is asked about (T).
    public var at: Instant
    /// R, where it was given as an instant.
    public var known: Instant?
    /// Size of the prefix that the answer was made from.
    public var sequence: UInt64

    /// Echoes a question.
    package init(
        customer: String?,
        environment: StoreEnvironment,
        at: Instant,
        known: Instant?,
        sequence: UInt64
    ) {
        self.customer = customer
        self.environment = environment
        self.at = at
        self.known = known
        self.sequence = sequence
    }

    /// Its members, in the order in which they are written.
    package static let fields = Fields("Question", "A question", Self.init) {
        Field("customer", \.customer, .masked(.identifier))
        Field("environment", \.environment, .environment)
        Field("at", \.at, .instant).echoed
        Field("known", \.known, .orNull(.instant))
        Field(
            "sequence",
            \.sequence,
            .count,
            "Size of the prefix that the answer was made from"
        ).echoed
    }
}
