import Crypto
import DurableFiles
import Encodings
package import EventLog
import Glibc

extension LedgerDirectory {
    /// The log of a ledger, to be read without the master key.
    ///
    /// - Throws: `LedgerOpenFault`, `LogStorageFault`.
    package static func openLog(
        at path: String,
        mapSize: Int = MapSize.usual
    ) throws -> (manifest: Manifest, log: LMDBLog) {
        let manifest = try manifest(at: path)
        // Before the log's end: whoever writes may append and close meanwhile.
        let closed = try closedSize(at: path) ?? 0
        let log = try LMDBLog(path: path + "/" + logName, isReadOnly: true, mapSize: mapSize)
        guard try log.end().size >= closed else {
            throw LogStorageFault(.damaged, "the log holds fewer events than when it closed")
        }
        try require(log, of: manifest)
        return (manifest, log)
    }

    // MARK: Another master key

    /// Where a new master key stands until everything is wrapped by it.
    package static let nextKeyName = keyName + ".new"

    /// Wraps by a new master key what the old one wraps.
    ///
    /// Days of the quarantine, backups that can be reached, and last the epoch keys. Nothing else
    /// changes; a process that has the ledger open goes on.
    ///
    /// Stopped half-way, the same call goes on.
    ///
    /// `contents`: where the cluster that the directory is of has its keys, which are wrapped first; nil: it is of
    /// none. Every machine has days and backups of its own.
    ///
    /// - Returns: the backups that the old key still opens.
    /// - Throws: `LedgerOpenFault`, `FileFault`, what the cluster throws.
    package static func rotateMasterKey(
        at path: String,
        from old: [UInt8],
        to new: [UInt8],
        in contents: (any ClusterContents)? = nil,
        randomness: RandomSource
    ) throws -> [String] {
        _ = try manifest(at: path)
        guard isNode(at: path) == (contents != nil) else {
            throw LedgerOpenFault(.clustered, "the master key is the cluster's")
        }
        var randomness = randomness
        let (old, new) = (SymmetricKey(data: old), SymmetricKey(data: new))
        if let contents { try rewrapKeys(of: contents, from: old, to: new, &randomness) }
        let vault = path + "/" + vaultName
        return try EpochKeyFile.whileLocked(vaultPath: vault) {
            let file = vault + "/" + EpochKeys.fileName
            // The old key is the right one, or everything is done but what follows.
            let keys = try EpochKeyFile.open(DurableFile.read(file), either: new, or: old)
            // Whoever adds to it has the old key at hand.
            let lock = try takeLock(path + "/" + Quarantine.lockName)
            defer { Glibc.close(lock) }
            var quarantine = Quarantine(ledgerPath: path, masterKey: old, randomness: randomness)
            try quarantine.rewrap(by: new)
            let list = try BackupList.read(ledgerPath: path)
            // Those of the ledger that this one was restored from have the key that that one has.
            var missed = list.backups.filter { $0.isInherited == true }.map(\.path)
            for backup in list.own {
                let file = backup.path + "/" + vaultFolder + "/" + EpochKeys.fileName
                do {
                    let keys = try EpochKeyFile.open(DurableFile.read(file), either: new, or: old)
                    try DurableFile.replace(file, with: keys.wrapped(by: new, using: &randomness))
                } catch {
                    missed.append(backup.path)
                }
            }
            try DurableFile.replace(file, with: keys.wrapped(by: new, using: &randomness))
            return missed
        }
    }

    /// Times that it is tried again where an erasure was faster.
    private static let attempts = 20

    private static func rewrapKeys(
        of contents: any ClusterContents,
        from old: SymmetricKey,
        to new: SymmetricKey,
        _ randomness: inout RandomSource
    ) throws {
        for _ in 0..<attempts {
            let known = try contents.keys().bytes
            let keys = try EpochKeyFile.open(known, either: new, or: old)
            let wrapped = try keys.wrapped(by: new, using: &randomness)
            if try contents.rewrapKeys(wrapped, insteadOf: known) { return }
        }
        throw LogStorageFault(.busy, "erasures were always before it")
    }

    /// What the name of its file ends with until the new key stands in it: the usual one is the next key's.
    private static let ownKeySuffix = ".own" + DurableFile.newSuffix

    /// Draws a new master key for a ledger that keeps its own, in its directory.
    ///
    /// - Returns: the backups that the old key still opens.
    /// - Throws: as ``rotateMasterKey(at:from:to:in:randomness:)``; `LedgerOpenFault.locked` where another
    ///   process does the same.
    package static func rotateOwnMasterKey(
        at path: String,
        randomness: RandomSource
    ) throws -> [String] {
        _ = try manifest(at: path)
        var randomness = randomness
        let (file, next) = (path + "/" + keyName, path + "/" + nextKeyName)
        // To the end: who came between would take the next key's file away from who wraps by it.
        let lock = try takeLock(file + lockSuffix)
        defer { Glibc.close(lock) }
        if DurableFile.exists(next) {
            // Who wrote it may have been stopped before its name was on the disk.
            try DurableFile.syncDirectory(of: next)
        } else {
            try DurableFile.replace(next, with: text(randomness.bytes(StreamKeys.byteCount)))
        }
        guard let old = try key(file), let new = try key(next) else {
            throw LedgerOpenFault(.damaged, "the ledger's own master key is not one")
        }
        let missed = try rotateMasterKey(at: path, from: old, to: new, randomness: randomness)
        // Who was given a third key may have come between: the ledger's own is none that opens nothing.
        let keys = path + "/" + vaultName + "/" + EpochKeys.fileName
        _ = try EpochKeyFile.open(DurableFile.read(keys), SymmetricKey(data: new))
        // Its file may be a link to where secrets are kept, which stays. The next one's stands until then:
        // without either nothing would open the ledger.
        let output = try FileOutput(file, suffix: ownKeySuffix)
        try output.write(text(new))
        try output.close()
        DurableFile.remove(next)
        try DurableFile.syncDirectory(of: next)
        return missed
    }

    private static func text(_ key: [UInt8]) -> [UInt8] {
        Array((Hexadecimal.encode(key) + "\n").utf8)
    }

    private static func key(_ file: String) throws -> [UInt8]? {
        guard let bytes = try DurableFile.read(file) else { return nil }
        let text = String(decoding: bytes.prefix { $0 != 0x0A }, as: UTF8.self)
        return Hexadecimal.decode(text).flatMap { $0.count == StreamKeys.byteCount ? $0 : nil }
    }
}
