/// The shape of an explanation.
extension Shapes {
    static let explanation = Shape.object(
        question + [
            Shape.Member("feature", .text),
            Shape.Member("audience", .choice(RouteTable.audiences)),
            Shape.Member("language", .choice(RouteTable.languages)),
        ] + featureMembers + [
            Shape.Member("summary", .text),
            Shape.Member("steps", .list(step)), Shape.Member("wouldChange", .list(change)),
            Shape.Member("notUsed", .list(unused)),
            Shape.Member("completeness", .list(completeness)),
            Shape.Member("token", .text),
        ]
    )

    /// What steps and remarks have in common; null where no event says so.
    private static let mark = [
        Shape.Member("rule", .optional(.text)), Shape.Member("ruleText", .optional(.text)),
        Shape.Member("sequence", .optional(.integer)),
        Shape.Member("time", .optional(.instant)),
        Shape.Member("recordedAt", .optional(.instant)),
        Shape.Member("type", .optional(.text)), Shape.Member("source", .optional(.text)),
        Shape.Member("about", .optional(.text)),
    ]

    private static let step = Shape.object(
        mark + [
            Shape.Member("effect", effect),
            Shape.Member("text", .text),
        ]
    )

    /// What it does: its kind, and the parameters that the kind has.
    private static let effect = Shape.object(
        [Shape.Member("kind", .text)],
        optional: [
            Shape.Member("tier", .optional(.text)), Shape.Member("experiment", .text),
            Shape.Member("variant", .text), Shape.Member("since", .optional(.instant)),
            Shape.Member("ownedByAnother", .boolean), Shape.Member("start", .optional(.instant)),
            Shape.Member("end", .optional(.instant)), Shape.Member("until", .optional(.instant)),
            Shape.Member("at", .instant), Shape.Member("count", .integer),
            Shape.Member("period", .choice(["day", "week", "month"])),
            Shape.Member("resetsAt", .optional(.instant)),
        ]
    )

    private static let change = Shape.object(
        mark + [
            Shape.Member("kind", .text), Shape.Member("products", .list(.text)),
            Shape.Member("enough", .boolean), Shape.Member("decisive", .optional(.boolean)),
            Shape.Member("text", .text),
        ]
    )

    private static let unused = Shape.object(
        mark + [
            Shape.Member("reason", .text), Shape.Member("count", .integer),
            Shape.Member("text", .text),
        ]
    )

    private static let completeness = Shape.object([
        Shape.Member("store", .text), Shape.Member("lastSyncAt", .optional(.instant)),
        Shape.Member("lastVerifiedAt", .optional(.instant)),
        Shape.Member("completeThrough", .optional(.instant)),
        Shape.Member("lastRefusedAt", .optional(.instant)),
    ])
}
