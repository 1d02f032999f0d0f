/// The shapes that have a name, as the command prints them too (Interfaces, "Shapes").
enum Shapes {
    static let named: [Shape.Member] = answers + reports

    private static let answers: [Shape.Member] = [
        Shape.Member("Problem", problem),
        Shape.Member("State", state),
        Shape.Member("Feature", feature),
        Shape.Member("FeatureAnswer", featureAnswer),
        Shape.Member("Purchase", purchase),
        Shape.Member("Purchases", purchases),
        Shape.Member("Timeline", timeline),
        Shape.Member("GateMap", gateMap),
        Shape.Member("Offering", offering),
        Shape.Member("Difference", difference),
        Shape.Member("Explanation", explanation),
        Shape.Member("WhatIf", whatIf),
        Shape.Member("RecordProof", RouteTable.recordProofShape),
        Shape.Member("GrowthProof", RouteTable.growthProofShape),
        Shape.Member("Receipt", receipt),
        Shape.Member("Erasure", erasure),
        Shape.Member("Audit", audit),
        Shape.Member("SignalReceipt", signalReceipt),
        Shape.Member("ClaimOutcome", claimOutcome),
        Shape.Member("RestoreAnswer", restoreAnswer),
        Shape.Member("Flag", flag),
        Shape.Member("FlagFailure", flagFailure),
        Shape.Member("EvaluationContext", evaluationContext),
    ]

    static let question = [
        Shape.Member("customer", .identifier), Shape.Member("environment", .text),
        Shape.Member("at", .instant), Shape.Member("known", .optional(.instant)),
        Shape.Member("sequence", .integer),
    ]

    private static let problem = Shape.object(
        [
            Shape.Member("type", .text), Shape.Member("title", .text),
            Shape.Member("status", .integer), Shape.Member("code", .text),
            Shape.Member("retryable", .boolean), Shape.Member("error", serviceError),
            Shape.Member("requestId", .text),
        ],
        optional: [
            Shape.Member("detail", .text), Shape.Member("path", .text),
            Shape.Member("owner", .text), Shape.Member("faults", .list(.anything)),
            Shape.Member("violated-policies", .list(.text)),
        ]
    )

    /// What the app shows to its people (rows 2.5, 8.2).
    private static let serviceError = Shape.object(
        [
            Shape.Member("code", .text), Shape.Member("message", .text),
            Shape.Member("retryable", .boolean),
        ],
        optional: [
            Shape.Member("platform", .text), Shape.Member("nativeCode", .text),
            Shape.Member("reason", .text),
        ]
    )

    private static let limit = Shape.object([
        Shape.Member("period", .optional(.choice(["day", "week", "month"]))),
        Shape.Member("count", .optional(.integer)),
        Shape.Member("remaining", .optional(.integer)),
        Shape.Member(
            "perUse",
            .optional(
                .object([
                    Shape.Member("amount", .integer), Shape.Member("unit", .optional(.text)),
                ])
            )
        ),
        Shape.Member("resetsAt", .optional(.instant)),
    ])

    static let featureMembers = [
        Shape.Member("allowed", .boolean), Shape.Member("until", .optional(.instant)),
        Shape.Member("reason", .choice(["free", "purchase", "trial", "grant", "none"])),
        Shape.Member("sources", .list(.text)), Shape.Member("limit", .optional(limit)),
    ]

    private static let feature = Shape.object(featureMembers)

    private static let featureAnswer = Shape.object(
        [
            Shape.Member("customer", .identifier), Shape.Member("feature", .text),
            Shape.Member("at", .instant),
        ] + featureMembers
    )

    private static let purchaseMembers = [
        Shape.Member("purchase", .text), Shape.Member("productId", .optional(.text)),
        Shape.Member("productKind", .optional(.text)), Shape.Member("status", .text),
        Shape.Member("expiresAt", .optional(.instant)), Shape.Member("isVerified", .boolean),
        Shape.Member("isSynced", .boolean), Shape.Member("syncedAt", .optional(.instant)),
        Shape.Member("willRenew", .optional(.boolean)),
        Shape.Member("nextProductId", .optional(.text)),
    ]

    private static let purchase = Shape.object(purchaseMembers)

    private static let ownedPurchase = Shape.object(
        purchaseMembers + [
            Shape.Member("ownedSince", .optional(.instant)), Shape.Member("periods", .list(period)),
        ]
    )

    /// What one transaction gave; null where a store does not say.
    private static let period = Shape.object([
        Shape.Member("transactionId", .optional(.text)), Shape.Member("productId", .text),
        Shape.Member("productKind", .text), Shape.Member("status", .text),
        Shape.Member("startsAt", .instant), Shape.Member("expiresAt", .optional(.instant)),
        Shape.Member("graceUntil", .optional(.instant)),
        Shape.Member("ownership", .optional(.text)), Shape.Member("offer", .optional(.text)),
        Shape.Member("priceMicros", .optional(.integer)),
        Shape.Member("currencyCode", .optional(.text)),
        Shape.Member("quantity", .optional(.integer)),
        Shape.Member("storefront", .optional(.text)), Shape.Member("isVerified", .boolean),
        Shape.Member("verification", .optional(verdict)),
        Shape.Member("revocation", .optional(revocation)),
        Shape.Member("source", .optional(.text)), Shape.Member("recordedAt", .instant),
    ])

    private static let verdict = Shape.object([
        Shape.Member("at", .instant), Shape.Member("method", .optional(.text)),
        Shape.Member("reason", .optional(.text)),
    ])

    private static let revocation = Shape.object([
        Shape.Member("type", .text), Shape.Member("at", .instant),
        Shape.Member("until", .optional(.instant)), Shape.Member("reason", .optional(.text)),
        Shape.Member("priceMicros", .optional(.integer)),
        Shape.Member("currencyCode", .optional(.text)),
    ])

    private static let purchases = Shape.object(
        question + [
            Shape.Member("purchases", .list(ownedPurchase)), Shape.Member("token", .text),
        ]
    )

    private static let grant = Shape.object([
        Shape.Member("grantId", .identifier), Shape.Member("features", .list(.text)),
        Shape.Member("tier", .optional(.text)), Shape.Member("startsAt", .instant),
        Shape.Member("expiresAt", .optional(.instant)), Shape.Member("active", .boolean),
    ])

    private static let state = Shape.object(
        question + [
            Shape.Member("tier", .text), Shape.Member("validUntil", .optional(.instant)),
            Shape.Member("features", .map(.named("Feature"))),
            Shape.Member("purchases", .list(.named("Purchase"))),
            Shape.Member("grants", .list(grant)),
            Shape.Member(
                "trials",
                .list(
                    .object([
                        Shape.Member("trialId", .text), Shape.Member("remainingDays", .integer),
                    ])
                )
            ),
            Shape.Member("warnings", .list(.document("What is odd about the answer"))),
            Shape.Member("token", .text),
        ]
    )

    private static let stretch = Shape.object([
        Shape.Member("value", .text), Shape.Member("from", .instant),
        Shape.Member("to", .optional(.instant)),
    ])

    private static let accessStretch = Shape.object([
        Shape.Member("source", .text), Shape.Member("productId", .optional(.text)),
        Shape.Member("from", .instant), Shape.Member("to", .optional(.instant)),
    ])

    private static let timeline = Shape.object(
        question + [
            Shape.Member("tiers", .list(stretch)),
            Shape.Member("features", .map(.list(stretch))),
            Shape.Member("stretches", .list(accessStretch)),
            Shape.Member("statuses", .map(.list(stretch))),
            Shape.Member("events", .list(.document("A CloudEvent"))),
            Shape.Member(
                "late",
                .list(
                    .object([
                        Shape.Member("sequence", .integer), Shape.Member("seconds", .integer),
                    ])
                )
            ),
            Shape.Member("token", .text),
        ]
    )

    private static let gateMap = Shape.object([
        Shape.Member("tiers", .list(.text)),
        Shape.Member(
            "features",
            .map(
                .object([
                    Shape.Member("level", .text), Shape.Member("products", .list(.text)),
                ])
            )
        ),
        Shape.Member(
            "products",
            .map(
                .object([
                    Shape.Member("kind", .text), Shape.Member("tier", .optional(.text)),
                    Shape.Member("features", .list(.text)),
                ])
            )
        ),
    ])

    private static let offering = Shape.object([
        Shape.Member("feature", .optional(.text)), Shape.Member("at", .instant),
        Shape.Member(
            "products",
            .list(
                .object([
                    Shape.Member("productId", .text), Shape.Member("kind", .text),
                    Shape.Member("tier", .optional(.text)),
                    Shape.Member("features", .list(.text)),
                    Shape.Member("stores", .map(.list(.text))),
                    Shape.Member("locale", .optional(.text)), Shape.Member("text", .anything),
                ])
            )
        ),
    ])

    private static let receipt = Shape.object(
        [
            Shape.Member("outcome", .choice(["appended", "duplicate", "known"])),
            Shape.Member("sequence", .optional(.integer)),
            Shape.Member("id", .optional(.identifier)),
        ],
        optional: [
            Shape.Member("grantId", .identifier), Shape.Member("useId", .identifier),
            Shape.Member("endsAt", .optional(.instant)), Shape.Member("limit", .optional(limit)),
        ]
    )

    private static let signalReceipt = Shape.object([
        Shape.Member("outcome", .choice(["appended", "duplicate", "known"])),
        Shape.Member("sequence", .optional(.integer)),
    ])

    private static let claimOutcome = Shape.object(
        [
            Shape.Member("outcome", .choice(["recorded", "known", "refused"])),
            Shape.Member("purchase", .optional(.text)),
            Shape.Member("sequence", .optional(.integer)),
        ],
        optional: [
            Shape.Member("code", .text), Shape.Member("detail", .text),
            Shape.Member("owner", .text),
        ]
    )

    private static let restoreAnswer = Shape.object([
        Shape.Member("recorded", .integer), Shape.Member("known", .integer),
        Shape.Member("refused", .integer), Shape.Member("items", .list(.named("ClaimOutcome"))),
    ])

    // OpenFeature Remote Evaluation Protocol 0.3.0 (open-feature/protocol).

    private static let flag = Shape.object([
        Shape.Member("key", .text), Shape.Member("value", .boolean),
        Shape.Member("reason", .text), Shape.Member("variant", .text),
        Shape.Member("metadata", .map(.either([.boolean, .text, .integer]))),
    ])

    private static let flagFailure = Shape.object(
        [Shape.Member("errorCode", .text), Shape.Member("errorDetails", .text)],
        optional: [Shape.Member("key", .text)]
    )

    private static let evaluationContext = Shape.object([
        Shape.Member(
            "context",
            .object(
                [Shape.Member("targetingKey", .identifier)],
                optional: [Shape.Member("environment", RouteTable.environmentParameter.shape)]
            )
        )
    ])
}
