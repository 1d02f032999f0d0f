import ArgumentParser
import Entitlements
import LedgerAPI
import LedgerOperations
import PostgresStorage
import Presentation

/// The command `entitle cluster`.
struct ClusterCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cluster",
        abstract: "Several machines: one log in PostgreSQL for all of them.",
        subcommands: [Check.self, Forget.self, Init.self, Leave.self, Status.self]
    )

    /// The command `entitle cluster check`.
    struct Check: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "check",
            abstract: "Refuses a PostgreSQL that could lose what it acknowledged: exit 1.",
            discussion: HelpText.discussion(
                """
                Looks at the way there, the standbys that commits wait for, what both machines do with \
                their disks, the role's settings and rights, and the clock; of a cluster that stands, at whether \
                a machine has what the database lacks. What keeps the rows that erasures replaced is named and \
                refuses nothing. Changes nothing.
                """,
                HelpText.noLedger,
                examples: "entitle cluster check --postgres service=ledger",
                "entitle cluster check --postgres service=ledger --schema other --json"
            )
        )

        @OptionGroup var common: CommonOptions
        @OptionGroup var cluster: ClusterOptions

        @Flag(help: "One machine is enough: what says otherwise is told and tolerated.")
        var allowAsynchronous = false

        func run() throws {
            let findings = try cluster.findings().map { finding in
                ClusterFindingAnswer(
                    code: finding.code.rawValue,
                    isTolerated: finding.isOfErasure || allowAsynchronous && finding.isOfStandby,
                    what: finding.what,
                    remedy: finding.remedy
                )
            }
            let isOK = findings.allSatisfy(\.isTolerated)
            let answer = ClusterCheckAnswer(isOK: isOK, findings: findings)
            Terminal.tell(AnswerText(answer), or: answer.textLines, asJSON: common.json)
            if !isOK { throw ExitCode(.no) }
        }
    }
}
