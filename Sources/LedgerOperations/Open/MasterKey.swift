import Encodings
import EventLog
import Foundation
import LMDBStorage

/// The 32 bytes that wrap the vault's keys.
public enum MasterKey {
    /// Bytes of a key.
    public static let byteCount = 32

    /// Reads a key as text: 64 hexadecimal digits, white space apart.
    ///
    /// `place`: where the text came from, for the fault.
    ///
    /// - Throws: `OperationFault`.
    public static func parse(_ text: String, place: String) throws -> [UInt8] {
        guard let bytes = Hexadecimal.decode(text.filter { !$0.isWhitespace }),
            bytes.count == byteCount
        else {
            throw OperationFault(
                .badKey,
                "the master key is not 64 hexadecimal digits",
                place: place
            )
        }
        return bytes
    }

    /// Reads a file with a key as text.
    ///
    /// - Throws: `OperationFault`.
    public static func read(_ file: String) throws -> [UInt8] {
        guard let text = try? String(contentsOfFile: file, encoding: .utf8) else {
            throw unreadable(
                file,
                "give it with --key-file FILE, ENTITLE_KEY_FILE or ENTITLE_KEY; "
                    + "status and audit --hashes work --without-key"
            )
        }
        return try parse(text, place: file)
    }

    /// The fault of a source that gives none.
    package static func unreadable(_ place: String, _ hint: String) -> OperationFault {
        OperationFault(.noKey, "the master key cannot be read", place: place, hint: hint)
    }
}

/// Where a ledger's master key comes from.
public enum MasterKeySource: Sendable {
    /// The file `key` in the ledger's own directory: whoever has its disk has its names.
    case own
    /// A file with 64 hexadecimal digits.
    case file(String)
    /// The key itself; `renewed` gives it again for a ledger that is open while its master key is
    /// replaced, nil: it stays.
    case bytes([UInt8], renewed: (@Sendable () throws -> [UInt8])? = nil)

    /// The key of a ledger that stands.
    ///
    /// - Throws: `LedgerOpenFault` where there is no ledger, `OperationFault`.
    func read(of path: String) throws -> [UInt8] {
        switch self {
        case .own:
            // A directory that is not there is named before its key.
            _ = try LedgerDirectory.manifest(at: path)
            return try MasterKey.read(path + "/" + LedgerDirectory.keyName)
        case .file(let file): return try MasterKey.read(file)
        case .bytes(let key, _): return key
        }
    }

    /// What gives the key anew where the one at hand does not open the vault any more.
    func renewal(of path: String) -> (@Sendable () throws -> [UInt8])? {
        switch self {
        case .own: { try Self.ownByNow(path) }
        case .file(let file): { try MasterKey.read(file) }
        case .bytes(_, let renewed): renewed
        }
    }

    /// A ledger's own key as it is by now: the next one stands beside it while it is replaced.
    private static func ownByNow(_ path: String) throws -> [UInt8] {
        let next = path + "/" + LedgerDirectory.nextKeyName
        return try MasterKey.read(
            FileManager.default.fileExists(atPath: next)
                ? next : path + "/" + LedgerDirectory.keyName
        )
    }
}
