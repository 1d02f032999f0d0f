import DurableFiles
package import EventLog

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

    /// See `SalvageSupply`.
    package func records(ofBundle bundle: UInt64) throws -> [[UInt8]] {
        let first = bundle * Bundle.recordCount
        var records: [[UInt8]] = []
        for run in log.runs(overlapping: first..<first + Bundle.recordCount) {
            let bytes = try log.read(.init(offset: run.offset, count: run.byteCount))
            run.forEach(in: bytes.span) { _, record in records.append(record.copy()) }
        }
        return records
    }

    /// See `SalvageSupply`.
    package func tiles(level: Int, index: UInt64) throws -> [[UInt8]] {
        try log.tiles(TileKey(level: level, index: index))
    }

    /// See `SalvageSupply`.
    package func companion(_ digest: EventLog.Digest, ofBundle bundle: UInt64) throws -> [UInt8]? {
        try log.companion(digest)
    }

    /// Shared parts are found by what they contain.
    package func sharedParts(_ body: ([UInt8]) throws -> Void) throws {
        for place in log.found.sharedParts { try body(log.read(place)) }
    }

    /// See `SalvageSupply`.
    package func notes() -> [String] { log.found.notes.values.flatMap(\.self) }

    /// See `SalvageSupply`.
    package func ends() -> [LogEnd] { log.live.compactMap(\.end) }

    /// See `SalvageSupply`.
    package func vaultItems(_ body: (VaultItem) throws -> Void) throws {
        let folder = path + "/" + LedgerDirectory.vaultName + "/"
        for file in [LedgerDirectory.dataName, VaultJournal.fileName]
        where DurableFile.exists(folder + file) {
            try VaultJournalReader.read(folder + file) { _, part in
                if case .item(let item) = part { try body(item) }
            }
        }
    }
}
