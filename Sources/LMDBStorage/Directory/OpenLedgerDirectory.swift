import Crypto
import DurableFiles
package import EventLog
import LMDB

/// A ledger's log and vault, open; the writer holds its lock.
package final class OpenLedgerDirectory: Sendable {
    /// Where it stands.
    package let path: String
    /// What `ledger.json` says.
    package let manifest: LedgerDirectory.Manifest
    /// The log.
    package let log: LMDBLog
    /// Names and keys.
    package let vault: LMDBVault
    /// What a salvage could not bring back of it; nil: nothing that its log does not show.
    package let knownLoss: KnownLoss?
    /// A checkpoint that was published before the ledger was restored to less, a signed note.
    package let published: String?
    private let lock: WriterLock?

    /// Opens log and vault.
    ///
    /// `mapSize`: of log and of vault, in bytes, a multiple of the page size; they grow when full.
    ///
    /// `renewedKey`: the master key as its source gives it later, for one that was changed
    /// meanwhile; nil: as it is.
    ///
    /// `clock`: milliseconds since 1970. `asNode`: whether a cluster's directory is written to as its
    /// journals say. `bootID`: changes with each start of the machine; nil: nobody can tell.
    ///
    /// - Throws: `LedgerOpenFault`, `LogStorageFault`; `FileFault` where the system does not let it look or open.
    package init(
        at path: String,
        masterKey: [UInt8],
        renewedKey: (@Sendable () throws -> [UInt8])? = nil,
        forWriting: Bool,
        asNode: Bool = false,
        bootID: String? = nil,
        mapSize: Int = MapSize.usual,
        clock: @escaping @Sendable () -> Int64,
        randomness: RandomSource
    ) throws {
        self.path = path
        manifest = try LedgerDirectory.manifest(at: path)
        knownLoss = try LedgerDirectory.knownLoss(at: path)
        try Self.requireUntorn(path, bootID)
        if forWriting { try Self.requireWritable(path, asNode: asNode, knownLoss) }
        published = try LedgerDirectory.published(at: path)
        lock = forWriting ? try WriterLock.take(at: path) : nil
        do {
            let wasStopped =
                forWriting
                ? DurableFile.exists(path + "/" + LedgerDirectory.uncleanName)
                : LedgerDirectory.wasLeftUnclean(at: path)
            if let lock {
                // What a process that was killed announced is over.
                lock.announce(nil)
                try LedgerDirectory.markUnclean(at: path, bootID: asNode ? bootID : nil)
            }
            let keyFile = EpochKeyFile(
                vaultPath: path + "/" + LedgerDirectory.vaultName,
                masterKey: masterKey,
                renewedKey: renewedKey
            )
            // A wrong key is said before anything else is looked at.
            try LedgerDirectory.requireKey(keyFile.read(), of: manifest)
            let log = try LMDBLog(
                path: path + "/" + LedgerDirectory.logName,
                isReadOnly: !forWriting,
                // What a cluster's journals hold durably need not be waited for here.
                isSynchronous: !asNode || bootID == nil,
                mapSize: mapSize,
                lock: lock
            )
            let closed = try LedgerDirectory.closedSize(at: path) ?? 0
            // Before its size is compared with this ledger's.
            try LedgerDirectory.require(log, of: manifest)
            guard try log.end().size >= closed else {
                throw LogStorageFault(.damaged, "the log holds fewer events than when it closed")
            }
            vault = try LMDBVault(
                path: path + "/" + LedgerDirectory.vaultName,
                keyFile: keyFile,
                log: log,
                isReadOnly: !forWriting,
                mapSize: mapSize,
                wasStopped: wasStopped,
                clock: clock,
                randomness: randomness
            )
            self.log = log
            try LedgerDirectory.require(log, of: manifest, vault)
            if forWriting, try log.ledgerID() == nil { try log.bind(toLedger: manifest.ledgerID) }
        } catch {
            // The mark stays: who could not open it has not checked it.
            lock?.release()
            throw error
        }
    }

    /// Refuses a copy of which nothing is to be read.
    private static func requireUntorn(_ path: String, _ bootID: String?) throws {
        guard LedgerDirectory.isTorn(at: path, bootID: bootID) else { return }
        throw LogStorageFault(
            .damaged,
            "the machine started anew before this copy was closed: its server fills it again"
        )
    }

    /// Refuses what may only be read.
    private static func requireWritable(
        _ path: String,
        asNode: Bool,
        _ knownLoss: KnownLoss?
    ) throws {
        guard knownLoss?.isTreeLost != true else {
            throw LedgerOpenFault(
                .treeLost,
                "hashes of its tree are lost: it can only be read"
            )
        }
        guard asNode || !LedgerDirectory.isNode(at: path) else {
            throw LedgerOpenFault(.clustered, "it is a copy of a cluster's ledger")
        }
    }

    /// Tells whoever waits for the lock what goes on (row 8.4); nil: the usual writing.
    package func announce(_ recovery: Recovery?) { lock?.announce(recovery) }

    /// Ends the use; the lock goes last.
    ///
    /// - Parameter isClean: Whether nothing is in doubt; else the mark of an unclean stop stays.
    package func close(isClean: Bool = true) {
        // What the disk does not take now waits in the log for the next opening.
        let isDrawnIn = lock != nil && (try? vault.drawIn()) != nil
        // Without a size the note of an earlier close stays, which does no harm.
        let size = lock == nil ? nil : try? log.end().size
        // Where the disk does not take it, the mark of an unclean stop stays.
        let isSynced = lock == nil || (try? log.sync()) != nil
        log.close()
        vault.close()
        guard let lock else { return }
        if let size, isClean, isDrawnIn, isSynced {
            LedgerDirectory.noteClosed(size, at: path)
            DurableFile.remove(path + "/" + LedgerDirectory.uncleanName)
        }
        lock.release()
    }
}
