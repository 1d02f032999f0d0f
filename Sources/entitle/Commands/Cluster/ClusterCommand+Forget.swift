import ArgumentParser
import Encodings
import EventLog
import LedgerOperations
import PostgresStorage

extension ClusterCommand {
    /// The command `entitle cluster forget`.
    struct Forget: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "forget",
            abstract: "Forgets a machine that was taken out of a cluster for good.",
            discussion: HelpText.discussion(
                """
                Receipts of erasures name each machine that did not follow, since what was erased can be read on \
                its disk with the master key, and the backups and exports that it made. Wipe that disk and \
                those first: no receipt names them any more. One that was seen within half a minute is \
                not forgotten, nor, unasked, one that has what the database lost.
                """,
                HelpText.noLedger,
                examples: "entitle cluster forget c --postgres service=ledger"
            )
        )

        @OptionGroup var common: CommonOptions
        @Argument(help: "The machine's name.") var node: String
        @OptionGroup var cluster: ClusterOptions
        @Flag(help: "Yes: also where its copy alone has what the database lost.")
        var loseWhatItHas = false

        /// Seconds that it must not have been seen; one that runs says each second that it is there, and each ten where
        /// it waits for a standby.
        private static let quiet: Int64 = 30

        func run() throws {
            let journal = PostgresJournal(cluster.postgres, schema: try cluster.place())
            do {
                guard let known = try journal.members().first(where: { $0.name == node }) else {
                    throw OperationFault(
                        .usage,
                        "the cluster has no machine \(node)",
                        place: "node",
                        hint: "`entitle cluster status` names its machines"
                    )
                }
                let end = try journal.row().end
                guard loseWhatItHas || !end.lacks(known.size, generation: known.generation) else {
                    throw OperationFault(
                        .init("other_history", .conflict),
                        "the machine \(node) has what the cluster's database lacks: nothing was changed",
                        place: "node",
                        hint:
                            "`entitle cluster init --from \(node)` there gives it back; where its copy is gone, "
                            + "say --lose-what-it-has"
                    )
                }
                guard try journal.forget(node, unseenFor: Self.quiet) else {
                    throw OperationFault(
                        .init("still_running", .tryAgain),
                        "the machine \(node) was seen \(max(0, known.age)) seconds ago",
                        place: "node",
                        hint: "end its server, and try again \(Self.quiet) seconds later"
                    )
                }
            } catch let fault as JournalFault {
                throw OperationFault(fault)
            }
            if common.json {
                Terminal.line(.members(["node": .string(node)]))
            } else {
                Terminal.line("\(node) is no machine of the cluster any more")
            }
        }
    }
}
