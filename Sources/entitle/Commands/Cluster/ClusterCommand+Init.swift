import ArgumentParser
import Encodings
import EventLog
import LMDBStorage
import LedgerOperations
import PostgresStorage

extension ClusterCommand {
    /// The command `entitle cluster init`.
    struct Init: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract:
                "Makes a cluster of a ledger: its log and vault go into PostgreSQL, byte for byte.",
            discussion: HelpText.discussion(
                """
                The ledger's directory becomes the cluster's first machine: from then on it is served with \
                `entitle serve --cluster`, and alone only read. Another machine begins with a directory \
                that has nothing but cluster.json and the same master key. Nothing is made where the \
                database could lose what it acknowledged.
                """,
                examples:
                    "entitle cluster init --postgres service=ledger --node a --address https://a:8443"
            )
        )

        @OptionGroup var options: LedgerOptions
        @OptionGroup var cluster: ClusterOptions
        @Option(help: "This machine's name in the cluster.") var node: String
        @Option(help: "The URL by which the others reach its server.") var address: String
        @Flag(help: "One machine is enough: what is lost with the primary is lost.")
        var allowAsynchronous = false

        func run() throws {
            let file = ClusterFile(
                postgres: cluster.postgres,
                schema: cluster.schema == JournalSchema.usualName ? nil : cluster.schema,
                node: node,
                address: address
            )
            if let fault = file.fault { throw OperationFault(.usage, fault) }
            try refuseUnfit()
            let loaded = try options.open(writing: true).lend(warn: Terminal.warn) { open in
                let loaded: (events: UInt64, streams: UInt64)
                do {
                    let maker = try JournalMaker(cluster.postgres, schema: cluster.place())
                    // Before anything stands elsewhere: a directory that is marked is not written to alone.
                    try LedgerDirectory.markNode(at: options.path)
                    loaded = try open.directory.load(
                        into: maker,
                        allowsAsynchronous: allowAsynchronous
                    )
                    try file.write(toLedgerAt: options.path)
                    try tellCommonFiles()
                } catch let fault as JournalFault {
                    if fault.code != .unavailable {
                        try LedgerDirectory.unmarkNode(at: options.path)
                    }
                    throw OperationFault(fault)
                }
                try share(open)
                return loaded
            }
            if options.json {
                Terminal.line(
                    .members([
                        "events": .integer(Int64(clamping: loaded.events)),
                        "streams": .integer(Int64(clamping: loaded.streams)),
                        "node": .string(node),
                    ])
                )
            } else {
                Terminal.line(
                    "\(loaded.events) events and \(loaded.streams) streams are in the cluster"
                )
                Terminal.line("serve it: entitle serve --cluster --ledger \(options.path)")
            }
        }

        /// Tells the cluster what its machines have in common beside log and vault, such as API keys.
        private func tellCommonFiles() throws {
            let journal = PostgresJournal(cluster.postgres, schema: try cluster.place())
            do {
                try CommonFiles.meet(at: options.path, in: journal)
            } catch is JournalFault {
                // The cluster stands; this directory's server tells them when it begins.
            }
        }

        /// Has all machines know who is told of what happens: whichever leads first tells them.
        private func share(_ open: OpenLedger) throws {
            let webhooks = try Webhooks(
                ofLedgerAt: options.path,
                open.ledger,
                sharedIn: PostgresDeliveries(cluster.postgres, schema: cluster.place())
            )
            defer { webhooks.close() }
            do {
                try webhooks.share?.lead(in: 0)
                try webhooks.share?.leave()
            } catch let fault as JournalFault {
                throw OperationFault(fault)
            }
        }

        private func refuseUnfit() throws {
            // There is no cluster yet, so that nothing of one can be of another format.
            let found = try cluster.findings().filter { !(allowAsynchronous && $0.isOfStandby) }
            guard let first = found.first else { return }
            throw OperationFault(
                .configuration,
                "the database could lose what it acknowledged (\(first.code.rawValue)): \(first.what)",
                hint: first.remedy
            )
        }
    }
}
