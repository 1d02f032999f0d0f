import Encodings
import Entitlements

/// `whatif` for people.
enum WhatIfText {
    /// Gains and losses that are shown of each.
    private static let shownLimit = 20

    static func print(_ report: JSONValue) {
        let known = report["known"]?.string.map { ", as known at \($0)" } ?? ""
        Terminal.line(
            "at \(text(report["at"]))\(known), with the other catalog from"
                + " \(text(report["effective"])) on (\(text(report["environment"])),"
                + " sequence \(text(report["sequence"])))"
        )
        Terminal.line(
            "\(text(report["customers"])) customers: \(text(report["gaining"])) gain,"
                + " \(text(report["losing"])) lose"
        )
        ShowText.table(
            "tiers",
            rows(report["tiers"]) { [text($0["before"]) + " → " + text($0["after"])] + count($0) }
        )
        ShowText.table("features", rows(report["features"]) { [text($0["feature"])] + sides($0) })
        ShowText.table(
            "products",
            rows(report["products"]) { product in
                ["\(text(product["store"]))/\(text(product["productId"]))"] + sides(product)
                    + ["of", text(product["holders"])]
            }
        )
        for list in ["losses", "gains"] { print(list, report[list]?.array ?? []) }
        if report["isComplete"]?.bool == false {
            Terminal.line("the lists are cut: --samples N lists more, --output FILE all")
        }
    }

    private static func print(_ name: String, _ entries: [JSONValue]) {
        ShowText.table(
            name,
            entries.prefix(shownLimit).map { entry in
                [
                    text(entry["customer"]), text(entry["feature"]), text(entry["reason"]),
                    (entry["sources"]?.array ?? []).map(text).joined(separator: " "),
                ]
            }
        )
        if entries.count > shownLimit { Terminal.line("  … \(entries.count - shownLimit) more") }
    }

    private static func rows(
        _ list: JSONValue?,
        _ row: (JSONValue) -> [String]
    ) -> [[String]] {
        (list?.array ?? []).map(row)
    }

    private static func sides(_ counted: JSONValue) -> [String] {
        ["gain", text(counted["gaining"]), "lose", text(counted["losing"])]
    }

    private static func count(_ counted: JSONValue) -> [String] { [text(counted["customers"])] }

    private static func text(_ value: JSONValue?) -> String { ShowText.text(value) }
}
