/// The shapes of what differs between two points.
extension Shapes {
    static let difference = Shape.object([
        Shape.Member("customer", .identifier), Shape.Member("environment", .text),
        Shape.Member("from", comparedPoint), Shape.Member("to", comparedPoint),
        Shape.Member("tier", .optional(valueChange(.text))),
        Shape.Member("validUntil", .optional(valueChange(.optional(.instant)))),
        Shape.Member("features", .list(namedChange("feature"))),
        Shape.Member("purchases", .list(namedChange("purchase"))),
        Shape.Member("grants", .list(namedChange("grantId"))),
        Shape.Member("trials", .list(namedChange("trialId"))),
        Shape.Member("warnings", .optional(valueChange(.list(.document("A warning of State"))))),
        Shape.Member(
            "catalogs",
            .list(
                .object([Shape.Member("sequence", .integer), Shape.Member("time", .instant)])
            )
        ),
        Shape.Member("events", .list(.document("A CloudEvent"))),
    ])

    private static let comparedPoint = Shape.object([
        Shape.Member("at", .instant), Shape.Member("known", .optional(.instant)),
        Shape.Member("sequence", .integer),
    ])

    private static func valueChange(_ shape: Shape) -> Shape {
        .object([Shape.Member("before", shape), Shape.Member("after", shape)])
    }

    private static func namedChange(_ key: String) -> Shape {
        .object([
            Shape.Member(key, .text), Shape.Member("changed", .list(.text)),
            Shape.Member("before", .optional(.document("As in State; null: it was not there"))),
            Shape.Member("after", .optional(.document("As in State; null: it is not there"))),
        ])
    }
}
