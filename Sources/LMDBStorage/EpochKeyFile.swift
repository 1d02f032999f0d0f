import Crypto
import EventLog
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
    func read() throws -> EpochKeys {
        guard let content = try DurableFile.read(path) else {
            throw LedgerOpenFault(.damaged, "the vault's epoch keys are missing")
        }
        do {
            return try open(content)
        } catch is SealingFault {
            throw LedgerOpenFault(.wrongKey, "the master key does not open the vault")
        } catch let fault as DecodingFault {
            throw LedgerOpenFault(.damaged, fault.what)
        }
    }

    private func open(_ content: [UInt8]) throws -> EpochKeys {
        do {
            return try EpochKeys(unwrapping: content, masterKey: masterKey.withLock { $0 })
        } catch is SealingFault {
            let renewed = SymmetricKey(data: try renewedKey())
            let keys = try EpochKeys(unwrapping: content, masterKey: renewed)
            masterKey.withLock { $0 = renewed }
            return keys
        }
    }

    /// Replaces the keys, durably.
    func write(_ keys: EpochKeys, using randomness: inout RandomSource) throws {
        let key = masterKey.withLock { $0 }
        try DurableFile.replace(path, with: keys.wrapped(by: key, using: &randomness))
    }
}
