import EntitlementLedger
import LedgerAPI

/// What an audit found (schemas/audit.schema.json).
extension Shapes {
    static let audit = Shape.object([
        Shape.Member("ok", .boolean), Shape.Member("records", .sequence),
        Shape.Member("treeSize", .sequence), Shape.Member("rootHash", .text),
        Shape.Member("checkpoints", .sequence),
        Shape.Member(
            "faults",
            .list(
                .object(
                    [
                        Shape.Member("kind", .choice(AuditReport.Kind.allCases.map(\.rawValue))),
                        Shape.Member("sequence", .optional(.sequence)),
                        Shape.Member("detail", .text), Shape.Member("hint", .text),
                    ],
                    optional: [Shape.Member("known", .boolean)]
                )
            )
        ),
        Shape.Member("orphans", .sequence), Shape.Member("erased", .sequence),
    ])
}
