import Crypto
import DurableFiles
import EventLog
import FoundationEssentials
import LMDB

/// A directory that is one machine's copy of a cluster's ledger: alone it is read, and never written to.
extension LedgerDirectory {
    /// The file that says so.
    static let nodeName = "node"
    /// The file that says that what stands there is to be made again.
    static let refillName = "refill"

    /// What a node makes and may make again, since the cluster holds it.
    static let nodeParts: Set<String> = [
        manifestName, logName, vaultName, viewsName, lockName, uncleanName, closedName,
        publishedName, refillName,
    ]

    /// Whether it is a cluster's.
    package static func isNode(at path: String) -> Bool {
        DurableFile.exists(path + "/" + nodeName)
    }

    /// Whether a node's copy stands in a directory, whole as far as it says.
    ///
    /// `bootID`: of this start of the machine; nil: nobody can tell.
    package static func holdsCopy(at path: String, bootID: String?) -> Bool {
        isNode(at: path) && DurableFile.exists(path + "/" + manifestName)
            && !needsRefill(at: path) && !isTorn(at: path, bootID: bootID)
    }

    /// Marks a directory as a cluster's, durably.
    package static func markNode(at path: String) throws {
        try DurableFile.makeFolder(path)
        try DurableFile.make(path + "/" + nodeName)
    }

    /// Notes, durably, that a copy is damaged: whoever opens it next makes it again.
    ///
    /// `size`: how many events it has, all of which were confirmed; nil: nobody can tell.
    package static func markRefill(at path: String, of size: UInt64?) throws {
        let text = size.map { "\($0)\n" } ?? ""
        try DurableFile.replace(path + "/" + refillName, with: Array(text.utf8))
    }

    /// Notes that a copy is to be made again where an earlier start of the machine left it open.
    ///
    /// What it held when it was closed last was confirmed: no database that has less takes its place.
    package static func markRefillIfTorn(at path: String, bootID: String?) throws {
        guard isNode(at: path), isTorn(at: path, bootID: bootID), !needsRefill(at: path) else {
            return
        }
        try markRefill(at: path, of: closedSize(at: path))
    }

    /// Whether a copy was noted to be damaged.
    package static func needsRefill(at path: String) -> Bool {
        DurableFile.exists(path + "/" + refillName)
    }

    /// Removes the mark of one that no cluster was made of.
    package static func unmarkNode(at path: String) throws {
        DurableFile.remove(path + "/" + nodeName)
    }

    /// The generation of the vault's keys that stand in a directory; nil: there are none.
    package static func keyGeneration(at path: String) throws -> UInt64? {
        let place = path + "/" + vaultName + "/" + EpochKeys.fileName
        guard let keys = try DurableFile.read(place) else { return nil }
        return try mappingFaults { try EpochKeys.generation(of: keys) }
    }

    /// The same, of keys that a master key opens; nil: there are none.
    package static func keyGeneration(
        at path: String,
        openedBy masterKey: [UInt8]
    ) throws -> UInt64? {
        let place = path + "/" + vaultName + "/" + EpochKeys.fileName
        guard let keys = try DurableFile.read(place) else { return nil }
        return try mappingFaults {
            try EpochKeys(unwrapping: keys, masterKey: SymmetricKey(data: masterKey))?.generation
        }
    }

    /// How far a copy came, as far as that can be told; 0: not at all.
    ///
    /// `masterKey`: the generation of keys that it opens is believed.
    package static func copyEnd(
        at path: String,
        masterKey: [UInt8]
    ) -> (size: UInt64, generation: UInt64) {
        // What cannot be read any more is no reason to keep it.
        let generation = try? keyGeneration(at: path, openedBy: masterKey)
        // As above.
        let size = try? needsRefill(at: path) ? notedSize(at: path) : logSize(at: path)
        return (size ?? 0, generation ?? 0)
    }

    /// What is noted to be damaged is not read again: that may end the program.
    private static func notedSize(at path: String) throws -> UInt64 {
        let text = try DurableFile.read(path + "/" + refillName) ?? []
        return UInt64(String(decoding: text.dropLast(), as: UTF8.self)) ?? 0
    }

    private static func logSize(at path: String) throws -> UInt64 {
        let log = try LMDBLog(path: path + "/" + logName, isReadOnly: true)
        defer { log.close() }
        return try log.end().size
    }

    /// Makes sure that a master key opens a cluster's keys.
    ///
    /// - Throws: `LedgerOpenFault.wrongKey`; `damaged` for what is no keys.
    package static func requireKey(_ masterKey: [UInt8], opens keys: [UInt8]) throws {
        _ = try EpochKeyFile.open(keys, SymmetricKey(data: masterKey))
    }

    /// Takes over a cluster's keys where the master key does not open those of its copy: it was changed meanwhile.
    ///
    /// `keys`: of the same generation as the copy's.
    ///
    /// - Throws: `LedgerOpenFault.wrongKey` where it does not open the cluster's either.
    package static func renewKeys(
        at path: String,
        with keys: [UInt8],
        masterKey: [UInt8]
    ) throws {
        let place = path + "/" + vaultName + "/" + EpochKeys.fileName
        let key = SymmetricKey(data: masterKey)
        try requireKey(masterKey, opens: keys)
        let opens = try mappingFaults {
            try EpochKeys(unwrapping: DurableFile.read(place) ?? [], masterKey: key) != nil
        }
        if !opens { try DurableFile.replace(place, with: keys) }
    }

    /// Removes what a node can make again.
    ///
    /// - Precondition: it is marked, and nobody has it open.
    package static func removeCopy(at path: String) throws {
        precondition(isNode(at: path), "only a copy is removed")
        // Without the manifest there is no ledger, however far this comes.
        for name in [manifestName] + nodeParts.subtracting([manifestName]).sorted()
        where DurableFile.exists(path + "/" + name) {
            try FileManager.default.removeItem(atPath: path + "/" + name)
        }
    }
}

extension OpenLedgerDirectory {
    /// How many items of a cluster's vault stand here: each stream that was ever made is one.
    ///
    /// Cost: new streams are drawn in first.
    package func vaultPosition() throws -> UInt64 {
        try vault.drawIn()
        return try mappingFaults {
            try vault.environment.read { UInt64(try $0.count(vault.streams)) }
        }
    }
}
