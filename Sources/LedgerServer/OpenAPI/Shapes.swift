import LedgerAPI

/// The shapes that have a name, as the command prints them too (Interfaces, "Shapes").
enum Shapes {
    static let named: [Shape.Member] = typed + answers

    /// Answers that have a list of fields, and their parts.
    private static let typed: [Shape.Member] = components([
        ProblemAnswer.self, StateAnswer.self, AccessAnswer.self, PurchasesAnswer.self,
        TimelineAnswer.self, OfferingAnswer.self, RecordProofAnswer.self, GrowthProofAnswer.self,
        DifferenceAnswer.self, ExplanationAnswer.self, AuditAnswer.self, VerificationAnswer.self,
        StatusAnswer.self, ClusterStandingAnswer.self,
        ErasureAnswer.self, ErasurePlanAnswer.self, WhatIfAnswer.self, CatalogDifferenceAnswer.self,
        DriftAnswer.self, GivenToken.self, ReplayAnswer.self,
        ComparisonGround.self, KnownElsewhere.self, ComparisonView.self,
        ProductsAnswer.self, ExtensionAnswer.self, DoctorAnswer.self,
        ReceiptAnswer.self, SignalReceipt.self,
        RestoreAnswer.self, BatchAnswer.self, ImportBatch.self, ImportedBatch.self, SyncAnswer.self,
        BackfillAnswer.self,
        WebhooksAnswer.self,
        WebhookDeliveriesAnswer.self, WebhookResendAnswer.self, WebhookTestAnswer.self,
        EntitlementChanged.self, LedgerAlert.self,
        CustomersAnswer.self,
        RowsAnswer<RevenueRow>.self,
        RowsAnswer<RefundRow>.self, RowsAnswer<FunnelRow>.self, AlertRowsAnswer<StageRow>.self,
        AlertRowsAnswer<ErrorRow>.self, RowsAnswer<ExperimentRow>.self,
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
        Shape.Member("GateMap", gateMap),
        Shape.Member("Flag", flag),
        Shape.Member("FlagFailure", flagFailure),
        Shape.Member("FlagStream", flagStream),
        Shape.Member("EvaluationContext", evaluationContext),
    ]

    static let question = [
        Shape.Member("customer", .identifier), Shape.Member("environment", .text),
        Shape.Member("at", .instant), Shape.Member("known", .optional(.instant)),
        Shape.Member("sequence", .integer),
    ]

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
                    Shape.Member("stores", .map(.list(.text))),
                ])
            )
        ),
        Shape.Member("validUntil", .optional(.instant)),
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

    private static let flagStream = Shape.object([
        Shape.Member("type", .text),
        Shape.Member("endpoint", .object([Shape.Member("requestUri", .text)])),
        Shape.Member("inactivityDelaySec", .integer),
    ])

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
