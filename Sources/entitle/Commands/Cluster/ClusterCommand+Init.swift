import ArgumentParser
import Encodings
import EventLog
import LedgerOperations
import PostgresStorage

extension ClusterCommand {
    /// The command `entitle cluster init`.
    struct Init: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "init",
            abstract:
                "Makes a cluster of a ledger: its log and vault go into PostgreSQL, byte for byte.",
            discussion: HelpText.discussion(
                """
                The ledger's directory becomes the cluster's first machine: from then on it is served with \
                `entitle serve --cluster`, and alone only read. Another machine begins with a directory \
                that has nothing but cluster.json and the same master key. Nothing is made where the \
                database could lose what it acknowledged. Where the cluster's database came back as it was \
                earlier, `entitle cluster check` names the machine that has most; where it is gone, \
                `entitle status` on each says how much it has. End all servers, and give --from with that name on \
                that machine, whose copy takes its place whole.
                """,
                examples:
                    "entitle cluster init --postgres service=ledger --node a --address https://a:8443",
                "entitle cluster init --postgres service=ledger --node a --address https://a:8443 --from a"
            )
        )

        @OptionGroup var options: LedgerOptions
        @OptionGroup var cluster: ClusterOptions
        @Option(help: "This machine's name in the cluster.") var node: String
        @Option(help: "The URL by which the others reach its server.") var address: String
        @Flag(help: "One machine is enough: what is lost with the primary is lost.")
        var allowAsynchronous = false
        @Option(
            help: ArgumentHelp(
                "Goes on from this machine's copy, by its name in the cluster, in place of a database "
                    + "that lost something.",
                valueName: "node"
            )
        )
        var from: String?

        func run() throws {
            let file = ClusterFile(
                postgres: cluster.postgres,
                schema: cluster.schema == JournalSchema.usualName ? nil : cluster.schema,
                node: node,
                address: address,
                contactSeconds: try contactSeconds()
            )
            if let fault = file.fault { throw OperationFault(.usage, fault) }
            try refuseUnfit()
            let loaded = try source().lend(warn: Terminal.warn) { open -> Loaded in
                let loaded: Loaded
                do {
                    loaded = try open.makeCluster(as: file, allowsAsynchronous: allowAsynchronous) {
                        try JournalMaker(
                            cluster.postgres,
                            schema: cluster.place(),
                            insteadOf: from.map { _ in open.requireContinuation(of:_:_:) }
                        )
                    }
                } catch let fault as JournalFault {
                    throw OperationFault(fault)
                }
                try tellCommonFiles()
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

        /// A machine that was configured stays as it is where its copy takes the place of a database.
        private func contactSeconds() throws -> Int64 {
            guard from != nil else { return ClusterFile.standardContactSeconds }
            return try ClusterFile.read(ofLedgerAt: options.path).contactSeconds
        }

        private typealias Loaded = (events: UInt64, streams: UInt64)

        /// The ledger that the cluster is made of.
        private func source() throws -> OpenLedger {
            guard let from else { return try options.open(writing: true) }
            guard from == node, try ClusterFile.read(ofLedgerAt: options.path).node == from else {
                throw OperationFault(
                    .usage,
                    "this directory is another machine's of the cluster",
                    place: "--from",
                    hint: "run it on the machine that has most events, "
                        + "with its --node and --address"
                )
            }
            return try OpenLedger(
                copyAt: options.path,
                options: options.opening(writing: true, needsLedger: false)
            )
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
            let found = try cluster.findings().filter {
                !($0.isOfErasure || allowAsynchronous && $0.isOfStandby
                    || from != nil && $0.code == .restored)
            }
            guard let first = found.first else { return }
            throw OperationFault(
                .configuration,
                "the database could lose what it acknowledged (\(first.code.rawValue)): \(first.what)",
                hint: first.remedy
            )
        }
    }
}
