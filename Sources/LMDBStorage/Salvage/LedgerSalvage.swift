import Crypto
import DurableFiles
import EventLog
import FoundationEssentials
import Glibc
package import Salvage

/// Rescues a ledger whose files are damaged into a new directory (Storage, "Archive, restore,
/// salvage"; row 3.6, Z5).
///
/// Opens nothing of the damaged one with LMDB, and changes nothing in it. Every intact record keeps
/// its sequence; what is lost leaves a gap that names its cause.
package struct LedgerSalvage {
    let path: String
    private let rules: SalvageRules
    private let supplies: [any SalvageSupply]
    private let spares: SpareFiles
    /// Where the file said that the log ended, and what else tells.
    package let manifest: LedgerDirectory.Manifest
    private let epochKeys: EpochKeys
    private let masterKey: SymmetricKey
    let log: DamagedLog
    let notes: SignedNotes
    private let logFile: RawFile?
    /// Held so that nobody writes meanwhile; nil: nobody can.
    private let lock: WriterLock?

    /// Files of a ledger's directory that a salvage makes anew, or leaves behind.
    private static let ownNames: Set<String> = [
        LedgerDirectory.manifestName, LedgerDirectory.lockName, LedgerDirectory.logName,
        LedgerDirectory.vaultName, LedgerDirectory.viewsName, LedgerDirectory.uncleanName,
        LedgerDirectory.closedName, KnownLoss.fileName, ArchiveDirectory.name,
    ]

    /// Reads all that the damaged files hold; writes nothing.
    ///
    /// `checkpoints`: signed notes that somebody kept; those that the log's key did not sign are
    /// passed over. `spares`: where small files may be had that the ledger has lost. `isHealing`: whether the ledger itself is to be changed.
    ///
    /// - Throws: `LedgerOpenFault` where manifest or epoch keys are lost, the master key is another, or
    ///   somebody writes; `FileFault`.
    ///
    /// Cost: one pass over the log's file, on all cores.
    package init(
        of path: String,
        masterKey: [UInt8],
        rules: SalvageRules,
        supplies: [any SalvageSupply] = [],
        spares: SpareFiles = SpareFiles(),
        checkpoints: [String] = [],
        isHealing: Bool = false,
        progress: (_ done: UInt64, _ of: UInt64) -> Void = { _, _ in }
    ) throws {
        self.path = path
        self.rules = rules
        self.supplies = supplies
        self.spares = spares
        manifest = try spares.manifest(of: path)
        lock = try Self.lock(path, isHealing: isHealing)
        self.masterKey = SymmetricKey(data: masterKey)
        epochKeys = try spares.epochKeys(of: path, manifest, self.masterKey)
        let data = path + "/" + LedgerDirectory.logName + "/" + LedgerDirectory.dataName
        logFile = DurableFile.exists(data) ? try RawFile(path: data) : nil
        log = try DamagedLog(logFile ?? [UInt8](), progress: progress)
        let texts =
            try log.notes() + checkpoints
            + supplies.flatMap { try $0.notes() }
        notes = SignedNotes(
            among: texts,
            by: try VerifierKey(parsing: manifest.publicKey),
            origin: manifest.origin
        )
    }

    private static func lock(_ path: String, isHealing: Bool) throws -> WriterLock? {
        // Without a data file there is no lock, and who had one writes to it no more.
        guard
            DurableFile.exists(
                path + "/" + LedgerDirectory.logName + "/" + LedgerDirectory.dataName
            )
        else { return nil }
        do {
            return try WriterLock.take(at: path, isShared: !isHealing)
        } catch let fault as FileFault where !isHealing {
            // A medium that knows no locks has no writer.
            guard fault.operation == "lock" || fault.code == EACCES else { throw fault }
            return nil
        }
    }

    /// The last checkpoint that the log's key signed and that was found.
    private var lastCheckpoint: Checkpoint? { notes.checkpoints.last }

    /// Says what would come of it; writes nothing.
    package func plan(progress: (UInt64, UInt64) -> Void = { _, _ in }) throws -> SalvageReport {
        let (report, _, _, _) = try runLog(progress) { _ in }
        return report
    }

    /// Writes what was rescued into a new directory.
    ///
    /// `identity`: the new ledger's id and origin where it is to go on under another name; nil: it
    /// stays the same ledger.
    ///
    /// - Throws: `LedgerOpenFault.notEmpty`, `.cannotCreate`, `.sameOrigin`, `.damaged` where what an
    ///   earlier salvage lost cannot be read; `LogStorageFault`, `FileFault`. What was written until then
    ///   is no ledger: its manifest comes last.
    package func rescue(
        into target: String,
        as identity: LedgerDirectory.Identity? = nil,
        progress: (UInt64, UInt64) -> Void = { _, _ in }
    ) throws -> SalvageReport {
        try LedgerDirectory.requireRoom(at: target)
        try requireOutside(target)
        try manifest.requireOther(identity)
        let earlier = try spares.loss(of: path)
        try LedgerDirectory.makeFolders(at: target)
        var randomness = RandomSource.system
        try DurableFile.replace(
            target + "/" + LedgerDirectory.vaultName + "/" + EpochKeys.fileName,
            with: epochKeys.rotated.wrapped(by: masterKey, using: &randomness)
        )
        let new = try LMDBLog(path: target + "/" + LedgerDirectory.logName, isReadOnly: false)
        var report: SalvageReport
        do {
            defer { new.close() }
            let (found, vault, streams, deleted) = try runLog(progress) {
                _ = try new.append($0)
            }
            try new.bind(toLedger: identity?.id ?? manifest.ledgerID)
            report = found
            // An older copy may have brought back what an erasure deleted.
            try new.eraseEvidence(of: deleted)
            try vault.make(at: target + "/" + LedgerDirectory.vaultName, lost: streams)
            if identity == nil {
                for (checkpoint, note) in notes.all {
                    try new.keepCheckpoint(size: checkpoint.size, note: note)
                }
            }
            LedgerDirectory.noteClosed(try new.end().size, at: target)
        }
        report.notCopied = try copyOthers(to: target, isContinued: identity != nil)
        let loss = report.loss(after: earlier, isContinued: identity != nil)
        if loss != KnownLoss() { try LedgerDirectory.note(loss, at: target) }
        if identity != nil {
            try LedgerDirectory.noteContinued(
                from: manifest.origin,
                lastCheckpoint,
                gaps: report.gaps.map(\.sequences),
                at: target
            )
        }
        try writeManifest(to: target, identity)
        return report
    }

    private func runLog(
        _ progress: (UInt64, UInt64) -> Void,
        _ body: (LogBatch) throws -> Void
    ) throws -> (SalvageReport, VaultSalvage, lost: [UInt64], deleted: [UInt64]) {
        let vault = try readVault(and: log)
        var salvage = try LogSalvage(
            log,
            copies: supplies,
            // What cannot be read hinders no salvage.
            closedSize: (try? LedgerDirectory.closedSize(at: path)) ?? 0,
            signed: notes.checkpoints,
            earlier: spares.loss(of: path),
            rules: rules
        ) { vault.holds($0) }
        var report = try salvage.run(progress: progress, body)
        report.unreadableBytes = logFile?.unreadableByteCount ?? 0
        report.checkpoints = notes.all.count
        var rest = vault
        let stopped = try EntryKeys(epochKeys).erasing(in: path + "/" + LedgerDirectory.vaultName)
        rest.erase(salvage.erased.union(stopped))
        let lost = rest.lost(named: salvage.keyless)
        report.vault = rest.report(lost: lost)
        return (report, rest, lost, salvage.deletedEvidence)
    }

    /// `log`: whose new streams count too; nil: what the vault's own files hold.
    func readVault(and log: DamagedLog? = nil) throws -> VaultSalvage {
        var vault = VaultSalvage(epochKeys: epochKeys)
        if let log { try vault.read(log) }
        let folder = path + "/" + LedgerDirectory.vaultName + "/"
        try vault.read(folder + LedgerDirectory.dataName)
        try vault.read(folder + VaultJournal.fileName)
        for supply in supplies { try vault.read(supply) }
        try vault.chooseEntries()
        return vault
    }

    // MARK: The new directory

    /// Refuses a directory within the damaged ledger's: it would be copied into itself.
    private func requireOutside(_ target: String) throws {
        let own = FileIdentity(at: path)
        var folder = target
        while FileIdentity(at: folder) == nil {
            let slash = folder.lastIndex(of: "/")
            folder = slash.map { $0 == folder.startIndex ? "/" : String(folder[..<$0]) } ?? "."
        }
        // From what is there already up to the root, as the system goes, whatever links lead there.
        var identity = FileIdentity(at: folder)
        while identity != own {
            folder += "/.."
            let above = FileIdentity(at: folder)
            guard above != identity else { return }
            identity = above
        }
        throw LedgerOpenFault(.cannotCreate, "the directory is within the damaged ledger's own")
    }

    /// Keys, settings, the quarantine: what else stands in the ledger's directory goes along.
    ///
    /// `isContinued`: whether under another name, which nothing was published under yet.
    ///
    /// - Returns: what could not be read, by its path below the directory.
    private func copyOthers(to target: String, isContinued: Bool) throws -> [String] {
        var others = OtherFiles(of: path, into: target)
        for name in try FileManager.default.contentsOfDirectory(atPath: path)
        where !Self.ownNames.contains(name) && !name.hasSuffix(".lock")
            && !(isContinued && name == LedgerDirectory.publishedName)
        {
            try others.copy(name)
        }
        return others.unreadable
    }

    private func writeManifest(
        to target: String,
        _ identity: LedgerDirectory.Identity?
    ) throws {
        let new = try identity.map { try manifest.renamed($0, epochKeys) } ?? manifest
        for name in [LedgerDirectory.logName, LedgerDirectory.vaultName] {
            try DurableFile.syncDirectory(of: target + "/" + name + "/")
        }
        try LedgerDirectory.write(new, to: target)
        try DurableFile.syncName(ofDirectory: target)
    }
}
