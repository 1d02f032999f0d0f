import LedgerAPI

/// The shape of what another catalog would change.
extension Shapes {
    static let whatIf = Shape.object([
        Shape.Member("at", .instant), Shape.Member("known", .optional(.instant)),
        Shape.Member("sequence", .integer), Shape.Member("environment", .text),
        Shape.Member("effective", .instant), Shape.Member("customers", .integer),
        Shape.Member("gaining", .integer), Shape.Member("losing", .integer),
        Shape.Member("features", .list(.object([Shape.Member("feature", .text)] + counts))),
        Shape.Member(
            "products",
            .list(
                .object(
                    [
                        Shape.Member("store", .text), Shape.Member("productId", .text),
                        Shape.Member("holders", .integer),
                    ] + counts
                )
            )
        ),
        Shape.Member(
            "tiers",
            .list(
                .object([
                    Shape.Member("before", .text), Shape.Member("after", .text),
                    Shape.Member("customers", .integer),
                ])
            )
        ),
        Shape.Member("gains", .list(listed)), Shape.Member("losses", .list(listed)),
        Shape.Member("isComplete", .boolean),
    ])

    private static let counts = [
        Shape.Member("gaining", .integer), Shape.Member("losing", .integer),
    ]

    private static let listed = Shape.object([
        Shape.Member("customer", .identifier), Shape.Member("feature", .text),
        Shape.Member("reason", .text), Shape.Member("sources", .list(.text)),
    ])
}
