import LedgerAPI

/// The shapes that have a name, as the command prints them too (Interfaces, "Shapes").
enum Shapes {
    static let named: [Shape.Member] = typed + answers + reports

    /// Answers that have a list of fields, and their parts.
    private static let typed: [Shape.Member] = components([
        StateAnswer.self, AccessAnswer.self, PurchasesAnswer.self, TimelineAnswer.self,
        DifferenceAnswer.self, ExplanationAnswer.self,
    ])

    private static func components(_ answers: [any Described.Type]) -> [Shape.Member] {
        var components: [Shape.Member] = []
        for answer in answers.flatMap({ [$0] + $0.parts })
        where !components.contains(where: { $0.name == answer.componentName }) {
            components.append(Shape.Member(answer.componentName, .fields(of: answer)))
        }
        return components
    }

    private static let answers: [Shape.Member] = [
        Shape.Member("Problem", problem),
        Shape.Member("GateMap", gateMap),
        Shape.Member("Offering", offering),
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
            Shape.Member("owner", .text), Shape.Member("resetsAt", .instant),
            Shape.Member("faults", .list(.anything)),
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
            Shape.Member("endsAt", .optional(.instant)),
            Shape.Member("limit", .optional(.described(UsageLimit.self))),
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
