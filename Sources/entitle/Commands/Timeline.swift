import ArgumentParser
import EntitlementLedger
import Entitlements

/// The command `entitle timeline`.
struct Timeline: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "A customer's stretches and events, in both times."
    )

    @OptionGroup var options: LedgerOptions
    @OptionGroup var point: PointOptions
    @Argument(help: "A customer id.") var customer: String

    func run() throws {
        let question = CustomerQuestion(
            customer: try CustomerArgument.checked(customer),
            environment: try options.environment(),
            point: try point.point()
        )
        let answer = try options.withLedger(writing: false) {
            try $0.timelineAnswer(question)
        }
        if options.json { return Terminal.line(answer) }
        Terminal.line("\(customer), from \(ShowText.text(answer["sequence"])) events")
        ShowText.table("tiers", (answer["tiers"]?.array ?? []).map(Self.row))
        for feature in answer["features"]?.members ?? [] {
            ShowText.table("feature \(feature.name)", (feature.value.array ?? []).map(Self.row))
        }
        for purchase in answer["statuses"]?.members ?? [] {
            ShowText.table(purchase.name, (purchase.value.array ?? []).map(Self.row))
        }
        ShowText.table(
            "events",
            (answer["events"]?.array ?? []).map { event in
                [
                    ShowText.text(event["time"]), "recorded",
                    ShowText.text(event["recordedtime"]), ShowText.text(event["type"]),
                    ShowText.text(event["source"]),
                    String(UInt64(ShowText.text(event["sequence"])) ?? 0),
                ]
            }
        )
    }

    private static func row(_ stretch: JSONValue) -> [String] {
        [
            ShowText.text(stretch["from"]), ShowText.text(stretch["to"]),
            ShowText.text(stretch["value"]),
        ]
    }
}
