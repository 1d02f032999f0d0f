import ArgumentParser
import Encodings
import EventLog
import LedgerAPI
import LedgerOperations
import PostgresStorage
import Presentation

extension ClusterCommand {
    /// The command `entitle cluster status`.
    struct Status: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "status",
            abstract: "Who leads a cluster, which machines there are, and how far each is.",
            discussion: HelpText.discussion(
                "Reads the database alone, so that it answers while no machine does.",
                HelpText.noLedger,
                examples: "entitle cluster status --postgres service=ledger"
            )
        )

        @OptionGroup var common: CommonOptions
        @OptionGroup var cluster: ClusterOptions

        func run() throws {
            let journal = PostgresJournal(cluster.postgres, schema: try cluster.place())
            let (row, members): (JournalRow, [ClusterMember])
            do {
                (row, members) = (try journal.row(), try journal.members())
            } catch let fault as JournalFault {
                throw OperationFault(fault)
            }
            let answer = ClusterStatusAnswer(
                sequence: row.end.size,
                confirmed: row.confirmedSize,
                term: row.lease.leadership.term,
                leader: row.lease.node.isEmpty || row.lease.isLast ? nil : row.lease.node,
                leaderAddress: row.lease.address.isEmpty ? nil : row.lease.address,
                endedBy: row.lease.isLast ? row.lease.node : nil,
                nodes: members.map { ClusterNodeAnswer($0, of: row.end.size) }
            )
            Terminal.tell(AnswerText(answer), or: answer.textLines, asJSON: common.json)
        }
    }
}
