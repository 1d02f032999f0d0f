import Crypto
import DurableFiles
import Encodings
package import EventLog
import FoundationEssentials
import Glibc

/// A ledger's directory on disk (schemas/log-format.md): manifest, writer's lock, log, vault.
package enum LedgerDirectory {
    /// The format that this program writes; a higher one is refused (E5).
    ///
    /// Format 1 has no new streams in its log; it becomes 2 when a stream is new in it.
    package static let formatVersion = 2
    private static let firstFormatVersion = 1

    static let manifestName = "ledger.json"
    static let lockName = "writer.lock"
    static let logName = "log"
    static let vaultName = "vault"
    /// LMDB's data file in the directories of log and vault.
    static let dataName = "data.mdb"
    /// Where views stand, in generations.
    package static let viewsName = "views"
    /// Where the master key stands unless it comes from elsewhere.
    package static let keyName = "key"

    /// What stands in `ledger.json`.
    package struct Manifest: Codable, Sendable, Equatable {
        /// The format of log, vault and views.
        package var format: Int
        /// 16 random bytes in hexadecimal.
        package var ledger: String
        /// The log's name in checkpoints.
        package var origin: String
        /// The verifier key of checkpoints (C2SP signed-note).
        package var publicKey: String
        /// RFC 3339.
        package var created: String
        /// Names that the log had before, as far as programs noted them, the oldest first; nil: none.
        ///
        /// Its key signed under each.
        package var formerOrigins: [String]?
    }

    /// Makes an empty ledger; the directory may exist if it is empty.
    ///
    /// `masterKey`: wraps the vault's keys; 32 bytes.
    ///
    /// `created`: RFC 3339.
    ///
    /// - Throws: `LedgerOpenFault`.
    package static func create(
        at path: String,
        masterKey: [UInt8],
        origin: String,
        created: String,
        randomness: RandomSource
    ) throws {
        try requireRoom(at: path)
        try makeFolders(at: path)
        var randomness = randomness
        let keys = EpochKeys(using: &randomness)
        try makeKeyFile(
            path + "/" + vaultName + "/" + EpochKeys.fileName,
            keys.wrapped(by: SymmetricKey(data: masterKey), using: &randomness)
        )
        let signer = try NoteSigner(
            name: origin,
            privateKey: Curve25519.Signing.PrivateKey(rawRepresentation: keys.checkpointKey)
        )
        let id = randomness.bytes(16)
        // Readers find the tables made.
        let log = try LMDBLog(path: path + "/" + logName, isReadOnly: false)
        defer { log.close() }
        try log.bind(toLedger: id)
        try log.makeNewStreams()
        try LMDBVault(
            path: path + "/" + vaultName,
            keyFile: EpochKeyFile(vaultPath: path + "/" + vaultName, masterKey: masterKey),
            log: log,
            isReadOnly: false,
            clock: { 0 },
            randomness: randomness
        ).close()
        // LMDB syncs what its files hold, not their names.
        for name in [logName, vaultName] {
            try DurableFile.syncDirectory(of: path + "/" + name + "/")
        }
        // The manifest stands last: without it there is no ledger.
        try write(
            Manifest(
                format: formatVersion,
                ledger: Hexadecimal.encode(id),
                origin: origin,
                publicKey: signer.verifierKey.text,
                created: created
            ),
            to: path
        )
        try DurableFile.syncName(ofDirectory: path)
    }

    /// Makes the file of the epoch keys; of two who make a ledger at once the slower one stops here, and takes
    /// none of the other's keys away.
    private static func makeKeyFile(_ file: String, _ content: [UInt8]) throws {
        do {
            try DurableFile.create(file, with: content)
        } catch let fault as FileFault where fault.code == EEXIST {
            throw LedgerOpenFault(.notEmpty, "the directory is not empty")
        }
    }

    static func makeFolders(at path: String) throws {
        do {
            for name in [logName, vaultName, viewsName] {
                try DurableFile.makeFolder(path + "/" + name, isDurable: true)
            }
        } catch {
            throw LedgerOpenFault(.cannotCreate, "the directory cannot be made")
        }
    }

    static func write(_ manifest: Manifest, to path: String) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        try DurableFile.replace(
            path + "/" + manifestName,
            with: Array(try encoder.encode(manifest)) + [0x0A],
            mode: 0o644
        )
    }

    /// Says the present format, durably, and closes the log's folder to others: from the next commit on
    /// it holds keys.
    static func upgrade(at path: String) throws {
        var manifest = try manifest(at: path)
        guard manifest.format < formatVersion else {
            // Who wrote it may have been stopped before its name was on the disk.
            return try DurableFile.syncDirectory(of: path + "/" + manifestName)
        }
        try DurableFile.closeFolder(path + "/" + logName)
        manifest.format = formatVersion
        try write(manifest, to: path)
    }

    /// Reads a ledger's manifest.
    ///
    /// - Throws: `LedgerOpenFault` for a missing, foreign or newer ledger.
    package static func manifest(at path: String) throws -> Manifest {
        var isDirectory = false
        guard FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory) else {
            throw LedgerOpenFault(.missing, "there is no such directory")
        }
        guard isDirectory, let bytes = try DurableFile.read(path + "/" + manifestName) else {
            throw LedgerOpenFault(.foreign, "there is no ledger.json in it")
        }
        return try manifest(reading: bytes)
    }

    /// The bytes of a ledger's manifest, for its copies.
    package static func manifestBytes(at path: String) throws -> [UInt8] {
        _ = try manifest(at: path)
        return try DurableFile.read(path + "/" + manifestName) ?? []
    }

    /// Reads the bytes of a manifest.
    ///
    /// - Throws: `LedgerOpenFault` for those of a foreign or newer ledger.
    package static func manifest(reading bytes: [UInt8]) throws -> Manifest {
        struct Format: Decodable { var format: Int }
        let decoder = JSONDecoder()
        guard let format = try? decoder.decode(Format.self, from: Data(bytes)) else {
            throw LedgerOpenFault(.foreign, "its ledger.json is not one")
        }
        guard (firstFormatVersion...formatVersion).contains(format.format) else {
            throw LedgerOpenFault(
                format.format > formatVersion ? .newer : .foreign,
                "its format is \(format.format), this program knows \(formatVersion)"
            )
        }
        guard let manifest = try? decoder.decode(Manifest.self, from: Data(bytes)) else {
            throw LedgerOpenFault(.foreign, "its ledger.json is not one")
        }
        return manifest
    }
}

/// Why a ledger cannot be made or opened.
public struct LedgerOpenFault: Error, Sendable, Equatable {
    /// The reason.
    public var code: Code
    /// A sentence without paths.
    public var message: String

    /// The closed set of reasons.
    public enum Code: String, Sendable {
        /// No such directory.
        case missing
        /// Not a ledger's directory.
        case foreign
        /// Of a format that this program does not know.
        case newer
        /// The log in it is another ledger's.
        case foreignLog = "foreign_log"
        /// The directory holds something already.
        case notEmpty = "not_empty"
        /// The directory or its files cannot be made.
        case cannotCreate = "cannot_create"
        /// The master key does not open the vault.
        case wrongKey = "wrong_key"
        /// Another process writes.
        case locked
        /// Another process recovers what would be written to (row 8.4).
        case recovering
        /// A part of the ledger is damaged or absent.
        case damaged
        /// A salvage could not bring its tree back: only reading goes on.
        case treeLost = "tree_lost"
        /// Its log was restored to less than a published checkpoint.
        case shortened
        /// It is a copy of a cluster's ledger: alone it is only read.
        case clustered
        /// The new name that its log is to go on under is one that it has or had.
        case sameOrigin = "same_origin"
    }

    /// Makes a fault.
    package init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }
}
