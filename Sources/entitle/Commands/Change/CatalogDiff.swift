import ArgumentParser
import Encodings
import EntitlementLedger
import Entitlements
import LedgerAPI
import LedgerOperations

/// The command `entitle catalog diff`.
struct CatalogDiff: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "diff",
        abstract: "What a catalog would change, and for whom; writes nothing.",
        discussion: HelpText.discussion(HelpText.times, examples: "entitle catalog diff next.json")
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
        let answer = try options.withLedger(writing: false) { ledger in
            CatalogDifferenceAnswer(
                difference: CatalogDifference(
                    from: try ledger.questions.catalogDocument(at: question.point),
                    to: document
                ),
                affected: try ledger.questions.whatIf(question)
            )
        }
        if options.json { return Terminal.line(AnswerText(answer)) }
        Self.print(answer.difference)
        WhatIfText.print(answer.affected)
    }

    private static func print(_ difference: CatalogDifference) {
        if difference.isEmpty { Terminal.line("the catalogs say the same") }
        for (name, change) in [
            ("tiers", difference.tiers), ("policy", difference.policy),
            ("offerings", difference.offerings),
        ] {
            guard let change else { continue }
            Terminal.line("\(name) \(change.before) → \(change.after)")
        }
        for (name, changes) in [
            ("features", difference.features), ("products", difference.products),
            ("trials", difference.trials), ("experiments", difference.experiments),
        ] {
            ShowText.table("changed \(name)", changes.map { [$0.id] + words($0) })
        }
        if difference.hasOtherTimeZones { Terminal.line("time zones differ") }
    }

    private static func words(_ change: CatalogDifference.ThingChange) -> [String] {
        guard let before = change.before else { return ["is new"] }
        guard let after = change.after else { return ["is gone"] }
        return change.changed.map { name in
            let sides = [before, after].map { $0[name]?.description ?? "-" }
            return "\(name) \(sides[0]) → \(sides[1])"
        }
    }
}
