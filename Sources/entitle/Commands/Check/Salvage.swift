import ArgumentParser
import Encodings
import EntitlementLedger
import EventLog
import LMDBStorage
import LedgerOperations
import Salvage

/// The command `entitle salvage`.
struct Salvage: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "salvage",
        abstract: "Rescues what is intact of a damaged ledger into a new one: exit 3 on a loss.",
        discussion: HelpText.discussion(
            """
            Reads the raw pages of log and vault and changes nothing in them. Every record keeps its \
            sequence; what is lost leaves a gap that is named. An archive, a backup or another copy \
            of the ledger fills gaps. Where nothing is lost, --heal may do instead: it mends a dead \
            meta page, a lost lock and damaged views where they stand.
            """,
            examples: "entitle salvage --dry-run",
            "entitle salvage --into saved"
        )
    )

    @OptionGroup var options: LedgerOptions

    @Argument(help: "The damaged ledger's directory (default: that of --ledger).")
    var directory: String?

    @Option(help: "The new ledger's directory: it must not exist, or be empty.")
    var into: String?

    @Option(help: "An archive of the ledger (default: DAMAGED/archive, if it is there).")
    var archive: [String] = []

    @Option(help: "A backup of the ledger: its log and its vault fill gaps.")
    var backup: [String] = []

    @Option(help: "Another ledger directory with the same log, damaged or not.")
    var from: [String] = []

    @Option(help: "A file with a signed checkpoint that somebody kept.")
    var checkpoint: [String] = []

    @Flag(help: "Say what would come of it, and write nothing.")
    var dryRun = false

    @Flag(help: "Mend the ledger itself where that loses nothing: exit 3 where it would.")
    var heal = false

    @OptionGroup var continuation: ContinuationOptions

    func validate() throws {
        guard [into != nil, dryRun, heal].count(where: \.self) == 1 else {
            throw ValidationError("give one of --into NEW, --dry-run and --heal")
        }
        let copies = archive + backup + from + checkpoint
        guard !heal || copies.isEmpty else {
            throw ValidationError("--heal takes nothing from other copies: use --into NEW")
        }
    }

    private var damaged: String { directory ?? options.path }

    func run() throws {
        Invocation.current.ledgerPath = damaged
        if heal { return try mend(damaged, masterKey: masterKey()) }
        if let into {
            try OperationFault.naming(into) { try LedgerDirectory.requireRoom(at: into) }
        }
        let reading = Progress("bytes read")
        let salvage = try LedgerSalvage(
            of: damaged,
            masterKey: try masterKey(),
            rules: .records,
            supplies: try supplies(),
            spares: spares,
            checkpoints: try checkpoint.map { try ProofFile.text($0) }
        ) { reading.show($0, of: $1) }
        reading.finish()
        let progress = Progress("records")
        let continuation =
            into == nil ? nil : try continuation.made(options, masterKey: masterKey())
        let report: SalvageReport
        if let into {
            report = try salvage.rescue(into: into, as: continuation?.identity) {
                progress.show($0, of: $1)
            }
        } else {
            report = try salvage.plan { progress.show($0, of: $1) }
        }
        progress.finish()
        tell(report)
        if let into { try continuation?.begin(at: into) }
        if !report.isWhole { throw ExitCode(.integrity) }
    }

    /// Where `ledger.json` and the vault's epoch keys may be had if the ledger has lost them.
    private var spares: SpareFiles {
        let archives = archive + [damaged + "/" + ArchiveDirectory.name]
        let logs = backup.map { $0 + "/" + BackupManifest.logFolder }
        let vaults = (backup + from).map { $0 + "/" + LedgerDirectory.vaultFolder }
        return SpareFiles(ledgers: archives + logs + from, vaults: vaults)
    }

    private func supplies() throws -> [any SalvageSupply] {
        let key = try spares.manifest(of: damaged).publicKey
        var supplies: [any SalvageSupply] = []
        for path in archive { supplies.append(try ArchiveCopy(at: path, publicKey: key)) }
        if archive.isEmpty {
            let own = damaged + "/" + ArchiveDirectory.name
            // Nobody asked for it: one that is damaged too is as good as none.
            if let copy = try? ArchiveCopy(at: own, publicKey: key) { supplies.append(copy) }
        }
        for path in backup {
            let log = path + "/" + BackupManifest.logFolder
            let vault = path + "/" + LedgerDirectory.vaultFolder
            supplies.append(try ArchiveCopy(at: log, publicKey: key, vault: vault))
        }
        for path in from { supplies.append(try LedgerCopy(at: path)) }
        return supplies
    }

    private func tell(_ report: SalvageReport) {
        if options.json { return Terminal.line(SalvageText.json(report, into: into)) }
        for line in SalvageText.lines(report) { Terminal.line(line) }
    }

    private func masterKey() throws -> [UInt8] {
        // Its manifest may be lost; a directory that is not there is named before its key.
        _ = try spares.manifest(of: damaged)
        var options = options
        options.ledger = damaged
        return try options.keyOptions.read(needsLedger: false)
    }
}
