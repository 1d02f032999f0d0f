import Crypto
import DurableFiles
import EventLog
import Glibc
import Synchronization

/// Where the epoch keys stand, and the master key that opens them.
///
/// The master key may be changed while a process has the file open: the file is then wrapped anew,
/// and the source of the key is asked again.
final class EpochKeyFile: Sendable {
    private let path: String
    private let masterKey: Mutex<SymmetricKey>
    private let renewedKey: @Sendable () throws -> [UInt8]

    /// `renewedKey`: the master key as its source gives it now; nil: as it was.
    init(
        vaultPath: String,
        masterKey: [UInt8],
        renewedKey: (@Sendable () throws -> [UInt8])? = nil
    ) {
        path = vaultPath + "/" + EpochKeys.fileName
        self.masterKey = Mutex(SymmetricKey(data: masterKey))
        self.renewedKey = renewedKey ?? { masterKey }
    }

    /// Reads the keys as they stand.
    ///
    /// - Throws: `LedgerOpenFault`.
    func read() throws -> EpochKeys { try openWithRenewal(DurableFile.read(path)) }

    /// How often the keys are read again beside erasures.
    private static let attempts = 8

    /// The keys that a vault is sealed under; read again where an erasure ended between the look at them and
    /// the look at the vault.
    ///
    /// - Throws: `LogStorageFault.damaged` where they are not there; `LedgerOpenFault`.
    func current(_ known: EpochKeys, of names: VaultNames) throws -> EpochKeys {
        var known = known
        for _ in 0..<Self.attempts {
            let stands = try mappingFaults { try names.generation() }
            if let keys = known.keys(of: stands) { return keys }
            known = try read()
        }
        throw LogStorageFault(.damaged, "the vault is of other epoch keys")
    }

    /// Opens the content of an epoch file, by the master key as it is known or as its source gives it now.
    ///
    /// - Throws: `LedgerOpenFault`.
    func openWithRenewal(_ content: [UInt8]?) throws -> EpochKeys {
        do {
            return try Self.open(content, masterKey.withLock { $0 })
        } catch let fault as LedgerOpenFault where fault.code == .wrongKey {
            let renewed = SymmetricKey(data: try renewedKey())
            let keys = try Self.open(content, renewed)
            masterKey.withLock { $0 = renewed }
            return keys
        }
    }

    /// Opens the content of an epoch file; nil for one that is not there.
    ///
    /// - Throws: `LedgerOpenFault`.
    static func open(_ content: [UInt8]?, _ masterKey: SymmetricKey) throws -> EpochKeys {
        guard let content else {
            throw LedgerOpenFault(.damaged, "the vault's epoch keys are missing")
        }
        do {
            if let keys = try EpochKeys(unwrapping: content, masterKey: masterKey) { return keys }
            throw LedgerOpenFault(.wrongKey, "the master key does not open the vault")
        } catch let fault as DecodingFault {
            throw LedgerOpenFault(.damaged, fault.what)
        }
    }

    /// Opens the content of an epoch file by the first of two master keys that does.
    static func open(
        _ content: [UInt8]?,
        either first: SymmetricKey,
        or second: SymmetricKey
    ) throws -> EpochKeys {
        do {
            return try open(content, first)
        } catch let fault as LedgerOpenFault where fault.code == .wrongKey {
            return try open(content, second)
        }
    }

    /// Keeps other processes from replacing a vault's epoch file between a look at it and its
    /// replacement.
    ///
    /// - Throws: `LedgerOpenFault.locked` where another one is at it; what `body` throws.
    static func whileLocked<Result>(
        vaultPath: String,
        _ body: () throws -> Result
    ) throws -> Result {
        let lock = try LedgerDirectory.takeLock(
            vaultPath + "/" + EpochKeys.fileName + ".lock"
        )
        defer { Glibc.close(lock) }
        return try body()
    }

    /// The master key as it is known.
    var key: SymmetricKey { masterKey.withLock { $0 } }

    /// Opens the content of another epoch file by the same master key.
    func open(_ content: [UInt8]) throws -> EpochKeys { try Self.open(content, key) }

    /// Has the file's name on the disk.
    func sync() throws { try DurableFile.syncDirectory(of: path) }

    /// Replaces the keys, durably; elsewhere: those of a copy.
    func write(
        _ keys: EpochKeys,
        to elsewhere: String? = nil,
        using randomness: inout RandomSource
    ) throws {
        try DurableFile.replace(elsewhere ?? path, with: keys.wrapped(by: key, using: &randomness))
    }
}
