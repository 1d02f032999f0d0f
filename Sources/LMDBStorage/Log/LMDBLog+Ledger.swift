import Encodings
import EventLog
import LMDB

/// A log says which ledger it was made for, so that one that was put in from elsewhere is met.
extension LMDBLog {
    /// Beside the log's end, which stands under 0.
    private static let ledgerKey = Key(1)

    /// The ledger's id; nil in a log of the first programs that none has written to since.
    func ledgerID() throws -> [UInt8]? {
        try read { try $0.get($1.end, Self.ledgerKey) { $0.copy() } }
    }

    /// Says whose log it is, durably.
    func bind(toLedger id: [UInt8]) throws {
        try mappingFaults {
            try withEnvironment { opened in
                try opened.environment.write(growingBy: MapSize.growth) {
                    try $0.put(opened.tables.end, Self.ledgerKey, id.span)
                }
            }
        }
    }
}

extension LedgerDirectory.Manifest {
    /// The ledger's id; empty where it is none.
    var ledgerID: [UInt8] { Hexadecimal.decode(ledger) ?? [] }

    /// Whether a log is this ledger's by what it says of itself; nil: nothing of it tells.
    ///
    /// In a log without an id the last checkpoint tells, by whose key it was signed. One that is
    /// damaged tells nothing: that is an audit's affair.
    func owns(_ log: LMDBLog) throws -> Bool? {
        if let id = try log.ledgerID() { return id == ledgerID }
        // Damage is an audit's affair.
        guard let note = try? log.lastCheckpoint()?.note,
            let signatures = try? SignedNote.parse(note).signatures,
            let key = try? VerifierKey(parsing: publicKey)
        else { return nil }
        return signatures.contains { $0.name == key.name && $0.keyID == key.keyID }
    }
}

extension LedgerDirectory {
    /// Refuses a log that says it is another ledger's.
    ///
    /// - Throws: `LedgerOpenFault.foreignLog`.
    static func require(_ log: LMDBLog, of manifest: Manifest) throws {
        guard try manifest.owns(log) == false else { return }
        throw foreignLog
    }

    /// Refuses a log that is another ledger's, by what it says or, where it says nothing, by what
    /// the vault opens of its last records.
    ///
    /// - Throws: `LedgerOpenFault.foreignLog`.
    static func require(_ log: LMDBLog, of manifest: Manifest, _ vault: LMDBVault) throws {
        guard try manifest.owns(log) ?? opens(log, vault) else { throw foreignLog }
    }

    private static let foreignLog = LedgerOpenFault(.foreignLog, "its log is another ledger's")

    /// Records that are looked at, from the last.
    private static let recordsLookedAt: UInt64 = 64

    /// Whether the vault opens one of the last records, or none of them is sealed.
    private static func opens(_ log: LMDBLog, _ vault: LMDBVault) throws -> Bool {
        let size = try log.end().size
        var isRefused = false
        for sequence in (size - min(size, recordsLookedAt)..<size).reversed() {
            var opened: Bool?
            // What cannot be read is damage, and an audit's affair.
            try? log.readRecords([sequence]) { _, record in
                let header = try RecordHeader(checking: record)
                guard header.stream != StreamNumber.catalog else { return }
                do {
                    guard let keys = try vault.keys(of: header.stream) else { return }
                    opened = header.identity(of: record, keys: keys) != nil
                } catch {
                    opened = false
                }
            }
            if opened == true { return true }
            if opened == false { isRefused = true }
        }
        return !isRefused
    }
}
