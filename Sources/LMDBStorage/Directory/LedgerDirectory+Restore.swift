import Crypto
import DurableFiles
import Encodings
package import EventLog
import FoundationEssentials

extension LedgerDirectory {
    /// The name of the file that holds a checkpoint which was published before the ledger was
    /// restored to less: the log never signs against it.
    static let publishedName = "published"
    /// The folder of a vault in a ledger or in a backup.
    package static let vaultFolder = vaultName

    /// What a ledger is made from.
    package struct Restoration: Sendable {
        /// The bytes of `ledger.json`.
        package var manifest: [UInt8]
        /// The folder with the vault's `epoch-keys` and `journal`.
        package var vault: String
        /// A checkpoint that reaches beyond what is restored; nil for none.
        package var published: String?
        /// What a salvage of that ledger lost; nil for nothing.
        package var loss: KnownLoss?
        /// Whether this ledger's erasures are to name the copies that were made of that one.
        package var listsCopies: Bool
        /// The backup that it is made from, an absolute path; nil: it is made from none.
        package var backup: String?
        /// What that ledger last signed, for one that goes on under another name; nil for nothing.
        package var signed: Checkpoint?

        /// Names the parts.
        package init(
            manifest: [UInt8],
            vault: String,
            published: String?,
            loss: KnownLoss?,
            listsCopies: Bool = false,
            backup: String? = nil,
            signed: Checkpoint? = nil
        ) {
            self.manifest = manifest
            self.vault = vault
            self.published = published
            self.loss = loss
            self.listsCopies = listsCopies
            self.backup = backup
            self.signed = signed
        }
    }

    /// Makes a ledger's directory from parts of another one; refuses to overwrite anything.
    ///
    /// The manifest stands last: a restore that is stopped leaves no ledger.
    ///
    /// `identity`: the new ledger's id and origin where it is to go on under another name; nil: it
    /// stays the same ledger.
    ///
    /// `fill`: fills the log, and says which streams are erased.
    ///
    /// - Returns: how many streams the vault holds, and how many of them are erased.
    /// - Throws: `LedgerOpenFault`, `LogStorageFault`, `FileFault`; what `fill` throws.
    package static func restore(
        at path: String,
        from parts: Restoration,
        masterKey: [UInt8],
        as identity: Identity? = nil,
        fill: (LMDBLog) throws -> Set<UInt64>
    ) throws -> VaultCounts {
        try requireRoom(at: path)
        let masterKey = SymmetricKey(data: masterKey)
        let keys = try EpochKeyFile.open(
            DurableFile.read(parts.vault + "/" + EpochKeys.fileName),
            masterKey
        )
        let manifest = try self.manifest(reading: parts.manifest)
        try manifest.requireOther(identity)
        try requireKey(keys, of: manifest)
        let journal = parts.vault + "/" + VaultJournal.fileName
        guard DurableFile.exists(journal) else {
            throw LedgerOpenFault(.damaged, "the vault's journal is missing")
        }
        try makeFolders(at: path)
        let log = try LMDBLog(path: path + "/" + logName, isReadOnly: false)
        var erased: Set<UInt64>
        do {
            erased = try fill(log)
            erased.formUnion(try EntryKeys(keys).erasing(in: parts.vault))
            try log.bind(toLedger: identity?.id ?? manifest.ledgerID)
        } catch {
            log.close()
            throw error
        }
        log.close()
        let vault = path + "/" + vaultName
        let counts = try VaultCopy.make(at: vault, from: journal, epochKeys: keys, erased: erased)
        var randomness = RandomSource.system
        try DurableFile.replace(
            vault + "/" + EpochKeys.fileName,
            with: keys.rotated.wrapped(by: masterKey, using: &randomness)
        )
        for name in [logName, vaultName] {
            try DurableFile.syncDirectory(of: path + "/" + name + "/")
        }
        if let published = parts.published {
            try DurableFile.replace(path + "/" + publishedName, with: Array(published.utf8))
        }
        if let loss = parts.loss { try note(loss, at: path) }
        if parts.listsCopies {
            let key = try Curve25519.Signing.PrivateKey(rawRepresentation: keys.checkpointKey)
            try MachineCopies(besideVaultAt: parts.vault, sealedBy: MachineCopies.seal(by: key))
                .inherited(from: parts.backup).makeLists(inLedgerAt: path)
        }
        if let identity {
            try noteContinued(from: manifest.origin, parts.signed, at: path)
            try write(manifest.renamed(identity, keys), to: path)
        } else {
            try DurableFile.replace(path + "/" + manifestName, with: parts.manifest, mode: 0o644)
        }
        try DurableFile.syncName(ofDirectory: path)
        return counts
    }

    /// A new ledger's id, 16 random bytes, and its log's name in checkpoints.
    package typealias Identity = (id: [UInt8], origin: String)

    /// Whether a ledger may be made here: nothing is there, but for a master key; in a node's directory
    /// what is configured there is, too.
    ///
    /// - Throws: `LedgerOpenFault.notEmpty`; `.cannotCreate` for an empty path, below which all would stand in
    ///   the root of the file system; `FileFault` for what is no directory.
    package static func requireRoom(at path: String) throws {
        guard !path.isEmpty else {
            throw LedgerOpenFault(.cannotCreate, "the path of its directory is empty")
        }
        let isNode = isNode(at: path)
        for name in try DurableFile.names(in: path) where name != keyName {
            guard isNode, !nodeParts.contains(name) else {
                throw LedgerOpenFault(.notEmpty, "the directory is not empty")
            }
        }
    }

    /// What a checkpoint published before a restore says; nil for none.
    static func published(at path: String) throws -> String? {
        try DurableFile.read(path + "/" + publishedName).map { String(decoding: $0, as: UTF8.self) }
    }

    /// Whether a vault's keys are those of a ledger.
    ///
    /// - Throws: `LedgerOpenFault.foreign`.
    static func requireKey(_ keys: EpochKeys, of manifest: Manifest) throws {
        let key = try Curve25519.Signing.PrivateKey(rawRepresentation: keys.checkpointKey)
        let signer = try NoteSigner(name: manifest.origin, privateKey: key)
        guard signer.verifierKey.text == manifest.publicKey else {
            throw LedgerOpenFault(.foreign, "the vault is another ledger's")
        }
    }
}

extension LedgerDirectory.Manifest {
    /// Refuses a log that would go on under a name that it has or had: one name and key would sign two
    /// histories.
    ///
    /// `identity`: the new one; nil: it stays the same ledger.
    ///
    /// - Throws: `LedgerOpenFault.sameOrigin`.
    func requireOther(_ identity: LedgerDirectory.Identity?) throws {
        let taken = [origin] + (formerOrigins ?? [])
        guard let wanted = identity?.origin, taken.contains(wanted) else { return }
        throw LedgerOpenFault(
            .sameOrigin,
            "the log goes on under a new name: --origin is "
                + (wanted == origin ? "its own" : "one that it had")
        )
    }

    /// The manifest of a ledger that goes on under another name, with the same key.
    func renamed(_ identity: LedgerDirectory.Identity, _ keys: EpochKeys) throws -> Self {
        let key = try Curve25519.Signing.PrivateKey(rawRepresentation: keys.checkpointKey)
        let signer = try NoteSigner(name: identity.origin, privateKey: key)
        var new = self
        new.ledger = Hexadecimal.encode(identity.id)
        new.origin = identity.origin
        new.formerOrigins = (formerOrigins ?? []) + [origin]
        new.publicKey = signer.verifierKey.text
        return new
    }
}
