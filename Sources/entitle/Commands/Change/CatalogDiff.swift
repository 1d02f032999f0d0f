import ArgumentParser
import Encodings
import EntitlementLedger
import Entitlements

/// The command `entitle catalog diff`.
struct CatalogDiff: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "diff",
        abstract: "What a catalog would change, and for whom; writes nothing."
    )

    @OptionGroup var options: LedgerOptions
    @OptionGroup var point: PointOptions
    @OptionGroup var other: OtherCatalogOptions
    @Argument(help: "The other catalog's document, or - for standard input.") var file: String

    func run() throws {
        let document = try CatalogFile.read(file)
        let question = try other.question(
            CatalogFile.validated(document),
            point.point(),
            options.environment()
        )
        let (difference, report) = try options.withLedger(writing: false) { ledger in
            (
                CatalogDifference(
                    from: try ledger.catalogDocument(at: question.point),
                    to: document
                ),
                try ledger.whatIf(question)
            )
        }
        if options.json {
            Terminal.line(.object(difference.members + [JSONMember("affected", report.json)]))
        } else {
            print(JSONValue.object(difference.members), isEmpty: difference.isEmpty)
            WhatIfText.print(report.json)
        }
    }

    private func print(_ difference: JSONValue, isEmpty: Bool) {
        if isEmpty { Terminal.line("the catalogs say the same") }
        for name in ["tiers", "policy", "offerings"] {
            guard let change = difference[name], !change.isNull else { continue }
            Terminal.line(
                "\(name) \(change["before"] ?? .null) → \(change["after"] ?? .null)"
            )
        }
        for name in ["features", "products", "trials", "experiments"] {
            ShowText.table(
                "changed \(name)",
                (difference[name]?.array ?? []).map { change in
                    [ShowText.text(change["id"])] + Self.words(change)
                }
            )
        }
        if difference["timeZones"]?.bool == true { Terminal.line("time zones differ") }
    }

    private static func words(_ change: JSONValue) -> [String] {
        if change["before"]?.isNull ?? true { return ["is new"] }
        if change["after"]?.isNull ?? true { return ["is gone"] }
        return (change["changed"]?.array ?? []).compactMap(\.string).map { name in
            let sides = [change["before"], change["after"]].map { side in
                side?[name]?.description ?? "-"
            }
            return "\(name) \(sides[0]) → \(sides[1])"
        }
    }
}
