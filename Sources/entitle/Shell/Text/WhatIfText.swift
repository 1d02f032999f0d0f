import Entitlements
import LedgerAPI

/// `whatif` for people.
enum WhatIfText {
    /// Gains and losses that are shown of each.
    private static let shownLimit = 20

    static func print(_ answer: WhatIfAnswer) {
        let known = answer.known.map { ", as known at \($0)" } ?? ""
        Terminal.line(
            "at \(answer.at)\(known), with the other catalog from \(answer.effective) on"
                + " (\(answer.environment.name), sequence \(answer.sequence))"
        )
        Terminal.line(
            "\(answer.customers) customers: \(answer.gaining) gain, \(answer.losing) lose"
        )
        ShowText.table(
            "tiers",
            answer.tiers.map { ["\($0.before) → \($0.after)", "\($0.customers)"] }
        )
        ShowText.table(
            "features",
            answer.features.map { [$0.id] + sides($0.gaining, $0.losing) }
        )
        ShowText.table(
            "products",
            answer.products.map { product in
                ["\(product.store)/\(product.productID)"]
                    + sides(product.gaining, product.losing) + ["of", "\(product.holders)"]
            }
        )
        print("losses", answer.losses)
        print("gains", answer.gains)
        if !answer.isComplete {
            Terminal.line("the lists are cut: --samples N lists more, --output FILE all")
        }
    }

    private static func print(_ name: String, _ entries: [WhatIfEntry]) {
        ShowText.table(
            name,
            entries.prefix(shownLimit).map { entry in
                [
                    entry.customer, entry.feature, entry.reason.rawValue,
                    entry.sources.joined(separator: " "),
                ]
            }
        )
        if entries.count > shownLimit { Terminal.line("  … \(entries.count - shownLimit) more") }
    }

    private static func sides(_ gaining: UInt64, _ losing: UInt64) -> [String] {
        ["gain", "\(gaining)", "lose", "\(losing)"]
    }
}
