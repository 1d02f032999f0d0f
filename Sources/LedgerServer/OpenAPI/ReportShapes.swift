import Entitlements
import LedgerAPI

/// The shapes of reports, as `entitle report --json` prints them too.
extension Shapes {
    static let reports: [Shape.Member] = [
        report("Customers", [customerTiers, customerStatuses, customerProducts]),
        report("Revenue", [rows(money + revenue)]),
        report("Refunds", [rows(money + refunds)]),
        report("Funnel", [rows(flows)]),
        report("Stages", [alerts, rows(stages)]),
        report("Errors", [alerts, rows(errors)]),
        report("Experiments", [rows(variants)]),
    ]

    private static func report(_ title: String, _ tables: [Shape.Member]) -> Shape.Member {
        let question = [
            Shape.Member("report", .choice([title.lowercased()])),
            Shape.Member("environment", .text), Shape.Member("at", .instant),
            Shape.Member("known", .optional(.instant)), Shape.Member("sequence", .integer),
            Shape.Member("from", .optional(.instant)), Shape.Member("to", .optional(.instant)),
        ]
        return Shape.Member(
            title + "Report",
            .object(question + tables + [Shape.Member("omitted", .integer)])
        )
    }

    private static let alerts = Shape.Member("alerts", .integer)

    private static func rows(_ members: [Shape.Member]) -> Shape.Member {
        table("rows", members)
    }

    private static func table(_ name: String, _ members: [Shape.Member]) -> Shape.Member {
        Shape.Member(name, .list(.object(members)))
    }

    private static func integers(_ names: String...) -> [Shape.Member] {
        names.map { Shape.Member($0, .integer) }
    }

    private static func sums(_ names: String...) -> [Shape.Member] {
        names.map { Shape.Member($0, .sum) }
    }

    private static func numbers(_ names: String...) -> [Shape.Member] {
        names.map { Shape.Member($0, .optional(.number)) }
    }

    private static let status = Shape.Member(
        "status",
        .choice(PurchaseStatus.allCases.map(\.rawValue))
    )

    private static let customerTiers = table(
        "tiers",
        [Shape.Member("tier", .text)] + integers("customers")
    )

    private static let customerStatuses = table(
        "statuses",
        [status] + integers("customers", "purchases")
    )

    private static let customerProducts = table(
        "products",
        [
            Shape.Member("store", .optional(.text)), Shape.Member("productId", .optional(.text)),
            status,
        ] + integers("customers", "purchases")
    )

    private static let money =
        [
            Shape.Member("month", .text), Shape.Member("store", .text),
            Shape.Member("productId", .text), Shape.Member("currencyCode", .optional(.text)),
        ] + integers("purchases")

    private static let revenue =
        integers("units", "unpriced")
        + sums(
            "grossMicros",
            "refundedByPurchaseDateMicros",
            "netByPurchaseDateMicros",
            "refundedByRefundDateMicros",
            "netByRefundDateMicros",
            "bookedGrossMicros",
            "bookedRefundedMicros",
            "bookedNetMicros"
        )

    private static let refunds =
        integers("refundsByPurchaseDate") + sums("refundedByPurchaseDateMicros")
        + numbers("refundShare") + integers("refundsByRefundDate")
        + sums("refundedByRefundDateMicros") + integers("reversalsByDate")
        + sums("reversedByDateMicros") + integers("bookedRefunds")
        + sums("bookedRefundedMicros")

    private static let flows =
        [
            Shape.Member("productId", .optional(.text)),
            Shape.Member("platform", .optional(.text)),
        ]
        + integers("started", "succeeded", "failed", "cancelled", "pending", "restored", "open")
        + numbers("conversion")

    private static let stages =
        [Shape.Member("stage", .text)]
        + integers("count", "p50", "p95", "p99", "max", "threshold", "overThreshold")
        + [Shape.Member("isSlow", .boolean)]

    private static let errors =
        [
            Shape.Member("origin", .choice(ErrorReport.Origin.allCases.map(\.rawValue))),
            Shape.Member("code", .text),
        ] + integers("count") + numbers("share") + integers("recent")
        + numbers("expected", "score") + [Shape.Member("isAlert", .boolean)]

    private static let variants =
        [
            Shape.Member("experiment", .text), Shape.Member("variant", .optional(.text)),
            Shape.Member("isAssigned", .boolean),
        ] + integers("exposures", "conversions", "mismatches")
        + numbers("rate", "rateLow", "rateHigh")
        + [Shape.Member("control", .optional(.text))]
        + numbers("difference", "differenceLow", "differenceHigh")
}
