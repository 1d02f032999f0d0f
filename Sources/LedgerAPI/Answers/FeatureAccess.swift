import Encodings
public import Entitlements

/// Access to one feature (K5, K6).
public struct FeatureAccess: Described {
    /// Whether it is allowed at T (K5).
    public var isAllowed: Bool
    /// Whether it is allowed and something is left of its limit at T (C5).
    public var isUsable: Bool
    /// Why it cannot be used although it is allowed; nil: it can, or it is not allowed.
    public var refusal: CustomerState.UseRefusal?
    /// The end of what is allowed by what is known; nil: none is known.
    public var until: Instant?
    /// The first reason that holds.
    public var reason: AccessReason
    /// All that unlocks it at T, by name.
    public var sources: [String]
    /// The limit at the customer's tier; nil: there is none.
    public var limit: UsageLimit?

    /// Its members, in the order in which they are written.
    package static let fields = Fields("Feature", "Access to one feature", Self.init) {
        Field("allowed", \.isAllowed, .boolean)
        Field(
            "usable",
            \.isUsable,
            .boolean,
            "Whether it is allowed and something is left of its limit"
        ).since(2, before: false)
        Field(
            "refusal",
            \.refusal,
            .orNull(.word),
            "Why it cannot be used although it is allowed; `limit.resetsAt` says until when, but for a limit of no uses"
        ).since(2, before: nil)
        Field("until", \.until, .orNull(.instant))
        Field("reason", \.reason, .word)
        Field("sources", \.sources, .list(.source))
        Field("limit", \.limit, .orNull(.object))
    }
}

/// A limit of uses and what is left of it.
public struct UsageLimit: Described {
    /// How long one window of uses is; nil: uses are not counted.
    public var period: UsagePeriod?
    /// Uses of one window.
    public var count: Int64?
    /// Uses left in the window; never negative.
    public var remaining: Int64?
    /// How much one use may take; nil: any.
    public var perUse: Amount?
    /// The window's end.
    public var resetsAt: Instant?

    /// Its members, in the order in which they are written.
    package static let fields = Fields("Limit", "A limit and what is left of it", Self.init) {
        Field("period", \.period, .orNull(.word))
        Field("count", \.count, .orNull(.count))
        Field("remaining", \.remaining, .orNull(.count))
        Field("perUse", \.perUse, .orNull(.object))
        Field("resetsAt", \.resetsAt, .orNull(.instant))
    }

    /// How much one use may take.
    public struct Amount: Described {
        /// So much.
        public var amount: Int64
        /// The unit of the amount, such as seconds.
        public var unit: String?

        /// Its members, in the order in which they are written.
        package static let fields = Fields("Amount", "How much one use takes", Self.init) {
            Field("amount", \.amount, .count)
            Field("unit", \.unit, .orNull(.name))
        }
    }
}

extension FeatureAccess {
    /// Access as the fold states it.
    package init(_ feature: CustomerState.FeatureState, names: some AnswerNames) throws {
        self.init(
            isAllowed: feature.isAllowed,
            isUsable: feature.isUsable,
            refusal: feature.refusal,
            until: feature.until,
            reason: feature.reason,
            sources: try feature.sources.map { try $0.name(names) }.sortedByBytes(),
            limit: feature.limit.map { UsageLimit($0) }
        )
    }
}

extension FeatureAccess {
    /// Access to a feature that the catalog in force does not list.
    static let notListed = FeatureAccess(
        isAllowed: false,
        isUsable: false,
        refusal: nil,
        until: nil,
        reason: .none,
        sources: [],
        limit: nil
    )
}

extension UsageLimit {
    /// A limit as the fold states it.
    package init(_ limit: CustomerState.LimitState) {
        self.init(
            period: limit.perPeriod?.period,
            count: limit.perPeriod?.count,
            remaining: limit.remaining,
            perUse: limit.perUse.map { Amount(amount: $0.amount, unit: $0.unit) },
            resetsAt: limit.resetsAt
        )
    }
}
