import DurableFiles
import Encodings
public import EntitlementLedger
import Entitlements
import EventLog
import LMDBStorage

extension Ledger {
    /// Makes an empty ledger.
    ///
    /// A key that the ledger keeps itself is drawn, and stands in its directory, readable by its
    /// owner only: losing it loses every name.
    ///
    /// - Parameters:
    ///   - path: A directory that is empty or not there.
    ///   - options: The key, the log's name, the clock, randomness.
    /// - Throws: `LedgerOpenFault`, `OperationFault`.
    public static func create(
        at path: String,
        options: OpenLedger.Options = OpenLedger.Options()
    ) throws {
        try LedgerDirectory.create(
            at: path,
            masterKey: masterKey(path, options),
            origin: options.origin,
            created: options.clock().description,
            randomness: options.randomness
        )
    }

    /// The key that was given, or a new one.
    private static func masterKey(_ path: String, _ options: OpenLedger.Options) throws -> [UInt8] {
        guard case .own = options.key else { return try options.key.read(of: path) }
        guard try DurableFile.names(in: path).isEmpty else {
            throw LedgerOpenFault(.notEmpty, "the directory is not empty")
        }
        var randomness = options.randomness
        let key = randomness.bytes(MasterKey.byteCount)
        do {
            try DurableFile.makeFolder(path, isDurable: true)
        } catch {
            throw LedgerOpenFault(.cannotCreate, "the directory cannot be made")
        }
        try OutputFile.create(
            Hexadecimal.encode(key) + "\n",
            at: path + "/" + LedgerDirectory.keyName
        )
        return key
    }
}
