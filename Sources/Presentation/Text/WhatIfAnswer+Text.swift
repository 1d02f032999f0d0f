import Entitlements
package import LedgerAPI

extension WhatIfAnswer {
    /// Gains and losses that are shown of each.
    private static let shownLimit = 20

    /// Who gains and who loses what, for people: sums, then some of each.
    package var textLines: [String] {
        let known = CellText.known(at: known)
        var lines = [
            "at \(at)\(known), with the other catalog from \(effective) on"
                + " (\(environment.name), sequence \(sequence))",
            "\(customers) customers: \(gaining) gain, \(losing) lose",
        ]
        lines += TextTable.lines(
            "tiers",
            tiers.map { ["\($0.before) → \($0.after)", "\($0.customers)"] }
        )
        lines += TextTable.lines(
            "features",
            features.map { [$0.id] + Self.sides($0.gaining, $0.losing) }
        )
        lines += TextTable.lines(
            "products",
            products.map { product in
                ["\(product.store)/\(product.productID)"]
                    + Self.sides(product.gaining, product.losing) + ["of", "\(product.holders)"]
            }
        )
        lines += Self.list("losses", losses) + Self.list("gains", gains)
        if !isComplete {
            lines.append("the lists are cut: --samples N lists more, --output FILE all")
        }
        return lines
    }

    private static func list(_ name: String, _ entries: [WhatIfEntry]) -> [String] {
        let lines = TextTable.lines(
            name,
            entries.prefix(shownLimit).map { entry in
                [
                    entry.customer, entry.feature, entry.reason.rawValue,
                    entry.sources.joined(separator: " "),
                ]
            }
        )
        let rest = entries.count - shownLimit
        return rest > 0 ? lines + ["  … \(rest) more"] : lines
    }

    private static func sides(_ gaining: UInt64, _ losing: UInt64) -> [String] {
        ["gain", "\(gaining)", "lose", "\(losing)"]
    }
}
