import ArgumentParser
import Encodings
import EventLog
import LedgerOperations
import PostgresStorage

extension ClusterCommand {
    /// The command `entitle cluster leave`.
    struct Leave: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "leave",
            abstract: "Ends a cluster: its ledger goes on alone in this machine's directory.",
            discussion: HelpText.discussion(
                """
                Takes a last term that nobody can take over, so that nothing is appended to the cluster any \
                more, brings the directory up to its end, and makes a ledger of it that stands alone, \
                with the id and the origin that it had. The other machines only read from then on. To take \
                one machine out of a cluster that goes on, end its server, and nothing else. Begun and \
                stopped, it is run again on the same directory.
                """,
                examples: "entitle cluster leave ledger --end-cluster"
            )
        )

        @OptionGroup var options: LedgerOptions
        @Argument(help: "The directory of this machine's copy (default: that of --ledger).")
        var directory: String?
        @Flag(help: "Yes: no machine of the cluster records anything any more.")
        var endCluster = false

        func run() throws {
            guard endCluster else {
                throw OperationFault(
                    .usage,
                    "it ends the cluster for all of its machines",
                    place: "--end-cluster",
                    hint: "to take one machine out, end its server; else say --end-cluster"
                )
            }
            var options = options
            options.ledger = directory ?? options.ledger
            let path = options.path
            let file = try ClusterFile.read(ofLedgerAt: path)
            let schema = try file.journalSchema(ofLedgerAt: path)
            let journal = PostgresJournal(file.postgres, schema: schema)
            let size: UInt64
            do {
                size = try ClusterNode.leave(
                    at: path,
                    as: file,
                    of: journal,
                    tellingIn: PostgresDeliveries(file.postgres, schema: schema),
                    options: options.opening(writing: true, needsLedger: false),
                    tell: Terminal.note
                )
            } catch let fault as JournalFault {
                throw OperationFault(fault)
            }
            if options.json {
                Terminal.line(
                    .members([
                        "events": .integer(Int64(clamping: size)), "node": .string(file.node),
                    ])
                )
            } else {
                Terminal.line("\(size) events stand alone in \(path)")
                Terminal.line(
                    "end the other machines and drop the schema: they hear of no erasure from now on"
                )
            }
        }
    }
}
