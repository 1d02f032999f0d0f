import ArgumentParser
import DurableFiles
import Encodings
import EntitlementLedger
import Entitlements
import EventLog
import Foundation
import LMDBStorage
import LedgerOperations

/// The command `entitle backup`.
struct Backup: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup",
        abstract: "Copies log and vault to a directory while writing goes on, and checks the copy.",
        discussion: HelpText.discussion(
            """
            First the log, as an archive up to a signed checkpoint; then the vault, sealed as it is, \
            which nothing opens without the master key. The key itself is never copied: keep it \
            elsewhere. Run again, it copies what is new. A directory is another disk's or another \
            machine's by mounting or copying it.
            """,
            examples: "entitle backup copies/monday"
        )
    )

    @OptionGroup var options: LedgerOptions
    @Argument(help: "The backup's directory; an older backup of this ledger in it is continued.")
    var directory: String
    @Flag(help: "Only the log.") var logOnly = false
    @Flag(help: "Only the vault.") var vaultOnly = false

    func validate() throws {
        if logOnly && vaultOnly { throw ValidationError("--log-only excludes --vault-only") }
    }

    func run() throws {
        let path = URL(filePath: directory).standardizedFileURL.path(percentEncoded: false)
        // What is no directory is told of before anything is signed.
        _ = try OperationFault.naming(path) { try DurableFile.names(in: path) }
        let masterKey = try options.keyOptions.read()
        let progress = Progress("backed up")
        let outcome = try options.withCheckpointed { open in
            try LedgerBackup(
                of: open,
                into: path,
                archive: Invocation.current.settings[.archive]
            ).write(
                log: !vaultOnly,
                vault: logOnly ? nil : masterKey,
                warn: Terminal.warn,
                progress: { progress.show($0, of: $1) }
            )
        }
        progress.finish()
        switch outcome {
        case .written(let manifest): show(manifest, path)
        case .damaged(let audit):
            ArchiveText.show(audit, json: options.json)
            throw ExitCode(.integrity)
        }
    }

    private func show(_ manifest: BackupManifest, _ path: String) {
        if options.json { return Terminal.line(manifest.json) }
        if let log = manifest.log {
            let rest = log.behind == 0 ? "" : "; \(log.behind) wait for the next checkpoint"
            Terminal.line("backed up \(log.events) events to \(path), checked\(rest)")
        }
        if let vault = manifest.vault {
            Terminal.line(
                "backed up the vault: \(vault.streams) streams, \(vault.erased) erased, each opens"
            )
        }
    }
}
