import ArgumentParser
import EntitlementLedger
import Entitlements

/// The command `entitle can`.
struct Can: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Whether a customer has a feature: exit 0 yes, 1 no."
    )

    @OptionGroup var options: LedgerOptions
    @OptionGroup var point: PointOptions
    @Argument(help: "A customer id.") var customer: String
    @Argument(help: "A feature id.") var feature: String

    func run() throws {
        let question = CustomerQuestion(
            customer: try CustomerArgument.checked(customer),
            environment: try options.environment(),
            point: try point.point()
        )
        let (state, json) = try options.withLedger(writing: false) { ledger in
            let state = try ledger.access(to: feature, question)
            return (state, try state?.json(names: ledger.names))
        }
        let isAllowed = state?.isAllowed ?? false
        if options.json {
            Terminal.line(
                .object(
                    [
                        JSONMember("customer", .string(customer)),
                        JSONMember("feature", .string(feature)),
                        JSONMember("at", .instant(question.point.at)),
                    ]
                        + (json?.members ?? [
                            JSONMember("allowed", .bool(false)), JSONMember("until", .null),
                            JSONMember("reason", "none"), JSONMember("sources", .array([])),
                            JSONMember("limit", .null),
                        ])
                )
            )
        } else if let state, isAllowed {
            let until = state.until.map { " until \($0)" } ?? ""
            Terminal.line("yes\(until) (\(state.reason.rawValue))")
        } else {
            Terminal.line(
                state == nil ? "no: the catalog has no such feature" : "no: nothing unlocks it"
            )
        }
        if !isAllowed { throw ExitCode.no }
    }
}
