import Crypto
import DurableFiles
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
    package static func holdsCopy(at path: String) -> Bool {
        isNode(at: path) && DurableFile.exists(path + "/" + manifestName) && !needsRefill(at: path)
    }

    /// Marks a directory as a cluster's, durably.
    package static func markNode(at path: String) throws {
        try DurableFile.makeFolder(path)
        try DurableFile.make(path + "/" + nodeName)
    }

    /// Notes, durably, that a copy is damaged: whoever opens it next makes it again.
    package static func markRefill(at path: String) throws {
        try DurableFile.make(path + "/" + refillName)
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
        _ = try EpochKeyFile.open(keys, key)
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
