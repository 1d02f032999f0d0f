import Encodings
import EntitlementLedger
import Entitlements
import Salvage

/// How a salvage is told.
enum SalvageText {
    /// The `salvage` shape (schemas/salvage.schema.json).
    static func json(_ report: SalvageReport, into path: String?) -> JSONValue {
        .members([
            "ok": .bool(report.isWhole), "into": .optional(path),
            "size": .integer(report.size), "records": .integer(report.records),
            "confirmed": .integer(report.confirmed), "refilled": .integer(report.refilled),
            "lost": .integer(report.lost), "proven": .bool(report.isProven),
            "gaps": .array(report.gaps.map(gap)),
            "unconfirmed": .array(
                report.unconfirmed.map {
                    .members([
                        "first": .integer($0.lowerBound), "last": .integer($0.upperBound - 1),
                    ])
                }
            ),
            "companions": .integer(report.attached),
            "lostCompanions": .array(report.lostAttached.map { .integer($0) }),
            "checkpoints": .integer(report.checkpoints),
            "vault": .members([
                "streams": .integer(report.vault.streams),
                "erased": .integer(report.vault.erased),
                "lost": .integer(report.vault.lostCount),
                "lostStreams": .array(report.vault.lost.map { .integer($0) }),
            ]),
            "unreadableBytes": .integer(report.unreadableBytes),
            "notCopied": .array(report.notCopied.map { .string($0) }),
        ])
    }

    private static func gap(_ gap: SalvageReport.Gap) -> JSONValue {
        .members([
            "first": .integer(gap.sequences.lowerBound),
            "last": .integer(gap.sequences.upperBound - 1),
            "cause": .string("\(gap.cause)"), "detail": .string(gap.cause.sentence),
            "firstPage": gap.pages.map { .integer($0.lowerBound) } ?? .null,
            "lastPage": gap.pages.map { .integer($0.upperBound) } ?? .null,
        ])
    }

    /// For people: what is lost, then the sum of it.
    static func lines(_ report: SalvageReport) -> [String] {
        var lines = report.gaps.map { gap in
            let pages = gap.pages.map { " (pages \($0.lowerBound) to \($0.upperBound))" } ?? ""
            return "lost \(range(gap.sequences)): \(gap.cause.sentence)\(pages)"
        }
        lines += report.unconfirmed.map { "unconfirmed \(range($0)): no hash of the tree is left" }
        lines += report.lostAttached.map { "evidence lost: of record \($0)" }
        if report.vault.lostCount > 0 {
            lines.append("keys lost: of \(report.vault.lostCount) streams")
        }
        lines += report.notCopied.map { "not copied: \(Terminal.plain($0)), which cannot be read" }
        if !report.isProven {
            lines.append("the signed tree is lost: what was rescued can only be read")
        }
        lines.append(
            "\(report.isWhole ? "whole" : "LOSS"): \(report.records) of \(report.size) records, "
                + "\(report.confirmed) confirmed, \(report.refilled) from other copies, "
                + "\(report.lost) lost; \(report.vault.streams) keys, "
                + "\(report.vault.lostCount) lost"
        )
        return lines
    }

    private static func range(_ range: Range<UInt64>) -> String {
        range.count == 1 ? "\(range.lowerBound)" : "\(range.lowerBound) to \(range.upperBound - 1)"
    }
}
