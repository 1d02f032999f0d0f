import EventLog
import Foundation
import LMDB
import Synchronization

@testable import LMDBStorage

/// A ledger's directory, open for writing, whose streams are looked at on their way into the
/// vault.
final class StreamPlace {
    let path: String
    private(set) var directory: OpenLedgerDirectory
    var log: LMDBLog { directory.log }
    var vault: LMDBVault { directory.vault }

    private static let masterKey = [UInt8](repeating: 7, count: 32)

    init(_ folder: String) throws {
        path = folder + "/ledger"
        try LedgerDirectory.createSample(at: path, masterKey: Self.masterKey)
        directory = try Self.open(path)
    }

    static func open(_ path: String, isReadOnly: Bool = false) throws -> OpenLedgerDirectory {
        try OpenLedgerDirectory(
            at: path,
            masterKey: masterKey,
            forWriting: !isReadOnly,
            clock: { 0 },
            randomness: .system
        )
    }

    func reopen() throws {
        directory.close()
        directory = try Self.open(path)
    }

    /// Reserves names and commits them with the log.
    @discardableResult
    func commit(_ names: Range<Int>) throws -> [UInt64] {
        let numbers = try names.map { try vault.reserveStream(of: Self.name($0)) }
        try vault.commit(upTo: .max, with: log)
        return numbers
    }

    func keys() throws -> EpochKeys {
        try EpochKeyFile(vaultPath: path + "/vault", masterKey: Self.masterKey).read()
    }

    /// Copies the vault as a backup does.
    func copyVault(to folder: String) throws -> VaultCounts {
        try directory.copyVault(to: folder, masterKey: Self.masterKey)
    }

    /// What stands in the vault's own table.
    func kept(_ stream: UInt64) throws -> [UInt8]? {
        try vault.environment.read { try $0.get(vault.streams, Key(stream)) { $0.copy() } }
    }

    func journal() throws -> [VaultItem] {
        var items: [VaultItem] = []
        try VaultJournalReader.read(path + "/vault/journal") { _, part in
            if case .item(let item) = part { items.append(item) }
        }
        return items
    }

    /// Lends the ledger while its vault takes nothing over.
    func whileVaultRefuses(_ body: () throws -> Void) throws {
        vault.writer.withLock { $0.journal = nil }
        try body()
        try vault.writer.withLock {
            $0.journal = try VaultJournal(path: path + "/vault/journal")
        }
    }

    static func name(_ number: Int) -> StreamName {
        StreamName(environment: 1, subject: "customer/\(number)")
    }
}

extension VaultItem {
    /// Every item in the bytes of a file, superseded ones in freed pages included.
    static func all(in file: String) throws -> [VaultItem] {
        let bytes = [UInt8](try Data(contentsOf: URL(filePath: file)))
        var items: [VaultItem] = []
        VaultJournalReader.read(bytes.span) { _, part in
            if case .item(let item) = part { items.append(item) }
        }
        return items
    }

    /// The key of an entry that opens under some epoch keys.
    func key(under epochs: EpochKeys) -> [UInt8]? {
        guard case .entry(_, _, let bytes) = self else { return nil }
        // What does not open has no key.
        return (try? VaultEntry(opening: bytes.span, epochKeys: epochs))?.key
    }
}
