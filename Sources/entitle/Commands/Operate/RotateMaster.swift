import ArgumentParser
import Encodings
import Entitlements
import EventLog
import LMDBStorage
import LedgerOperations

extension Keys {
    /// The command `entitle keys rotate-master`.
    struct RotateMaster: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "rotate-master",
            abstract: "Wraps the ledger's keys by a new master key; a running server goes on.",
            discussion: HelpText.discussion(
                """
                A ledger that keeps its key itself draws a new one. Elsewhere make 64 hexadecimal \
                digits, such as with `openssl rand -hex 32`, name them here, and let the source of \
                the key give them from then on: a server asks it when it needs the key next. \
                Stopped half-way, the same command goes on. Backups that cannot be reached stay \
                with the old key. In a cluster run it on every machine, with the same new key.
                """,
                examples: "entitle keys rotate-master --new-key-file next.key"
            )
        )

        @OptionGroup var options: LedgerOptions
        @Option(help: "A file with the new master key (default: a new one for the ledger's own).")
        var newKeyFile: String?

        func run() throws {
            let journal = try ClusterFile.journal(ofNodeAt: options.path)
            let missed: [String]
            if let newKeyFile {
                do {
                    missed = try LedgerDirectory.rotateMasterKey(
                        at: options.path,
                        from: options.keyOptions.read(),
                        to: MasterKey.read(named: newKeyFile, ledger: options.path),
                        in: journal,
                        randomness: .system
                    )
                } catch let fault as JournalFault {
                    throw OperationFault(fault)
                }
            } else if journal != nil {
                throw OperationFault(
                    .usage,
                    "all machines of a cluster have one master key: give the new one",
                    place: "--new-key-file"
                )
            } else {
                guard options.keyOptions.isOwn else {
                    throw OperationFault(
                        .usage,
                        "the master key is kept elsewhere: give the new one",
                        place: "--new-key-file"
                    )
                }
                missed = try LedgerDirectory.rotateOwnMasterKey(
                    at: options.path,
                    randomness: .system
                )
            }
            if options.json {
                Terminal.line(
                    .members(["rotated": .bool(true), "backupsMissed": .strings(missed)])
                )
            } else {
                Terminal.line("the vault is wrapped by the new master key")
                if journal != nil {
                    Terminal.note(
                        "run it on every machine of the cluster, and let each have the new key"
                    )
                }
                for path in missed {
                    Terminal.note("warning: the old key still opens this backup: \(path)")
                }
            }
        }
    }
}
