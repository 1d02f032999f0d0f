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
        abstract: "Several machines: whether a PostgreSQL may hold one log for them.",
        subcommands: [Check.self]
    )

    /// The command `entitle cluster check`.
    struct Check: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Refuses a PostgreSQL that could lose what it acknowledged: exit 1.",
            discussion: HelpText.discussion(
                """
                Looks at the way there, the standbys that commits wait for, what both machines do with \
                their disks, the role's settings and rights, and the clock. Changes nothing.
                """,
                examples: "entitle cluster check --postgres service=ledger",
                "entitle cluster check --postgres service=ledger --schema other --json"
            )
        )

        @Option(
            help: ArgumentHelp(
                "libpq's connection string, with all hosts; the password in a passfile.",
                valueName: "string"
            )
        )
        var postgres: String

        @Option(help: "The schema (default: \(JournalSchema.usualName)).")
        var schema = JournalSchema.usualName

        @Flag(help: "One machine is enough: what says otherwise is told and tolerated.")
        var allowAsynchronous = false

        @Flag(help: "One JSON document on standard output.")
        var json = false

        func validate() throws {
            guard JournalSchema(schema) != nil else {
                throw ValidationError(
                    "--schema takes lower-case letters, digits and _, at most 63, no digit first"
                )
            }
            switch ConnectionText.fault(in: postgres) {
            case .password:
                throw ValidationError(
                    "--postgres takes no password: name a passfile in it, or a service"
                )
            case .malformed:
                throw ValidationError("--postgres takes libpq's connection string or URI")
            case nil: break
            }
        }

        func run() throws {
            guard let schema = JournalSchema(schema) else { return }
            let found = ClusterCheck.findings(
                of: postgres,
                schema: schema,
                now: SystemClock.now().milliseconds
            )
            let findings = found.map { finding in
                ClusterFindingAnswer(
                    code: finding.code.rawValue,
                    isTolerated: allowAsynchronous && finding.isOfStandby,
                    what: finding.what,
                    remedy: finding.remedy
                )
            }
            let isOK = findings.allSatisfy(\.isTolerated)
            let answer = ClusterCheckAnswer(isOK: isOK, findings: findings)
            Terminal.tell(AnswerText(answer), or: answer.textLines, asJSON: json)
            if !isOK { throw ExitCode(.no) }
        }
    }
}
