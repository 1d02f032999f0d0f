import DurableFiles
package import EventLog
package import Salvage

/// Another ledger directory with the same log: a copy, a restored backup, a second machine's.
///
/// It may be damaged too: it is read as raw pages, like the first.
package struct LedgerCopy: SalvageSupply {
    private let path: String
    private let log: DamagedLog

    /// Reads the log of a ledger directory.
    ///
    /// - Throws: `FileFault` where it has none.
    package init(at path: String) throws {
        self.path = path
        let data = path + "/" + LedgerDirectory.logName + "/" + LedgerDirectory.dataName
        log = try DamagedLog(RawFile(path: data)) { _, _ in }
    }

    /// See `DamagedSource`.
    package func records(
        ofBundle bundle: UInt64,
        _ body: (Span<UInt8>, RecordLocation?) throws -> Void
    ) throws {
        try log.records(ofBundle: bundle) { record, _ in try body(record, nil) }
    }

    /// See `DamagedSource`.
    package func tiles(_ key: TileKey) throws -> [[UInt8]] { try log.tiles(key) }

    /// See `DamagedSource`.
    package func attached(_ digest: EventLog.Digest, ofBundle bundle: UInt64) throws -> [UInt8]? {
        try log.attached(digest, ofBundle: bundle)
    }

    /// See `DamagedSource`.
    package func sharedParts(_ body: ([UInt8]) throws -> Void) throws {
        try log.sharedParts(body)
    }

    /// See `DamagedSource`.
    package func notes() -> [String] { log.notes() }

    /// See `DamagedSource`.
    package func ends() -> [LogEnd] { log.ends() }

    /// See `SalvageSupply`.
    package func vaultItems(_ body: (VaultItem) throws -> Void) throws {
        // First those that are new in the log: what the vault has counts.
        for place in log.found.newStreams {
            let bytes = try log.read(place)
            // What was an entry and is none any more is not there.
            if let item = try? VaultItem(checking: bytes.span) { try body(item) }
        }
        let folder = path + "/" + LedgerDirectory.vaultName + "/"
        for file in [LedgerDirectory.dataName, VaultJournal.fileName]
        where DurableFile.exists(folder + file) {
            try VaultJournalReader.read(folder + file) { _, part in
                if case .item(let item) = part { try body(item) }
            }
        }
    }
}
