import DurableFiles
import EventLog
import FoundationEssentials
import Glibc
import LMDB

extension LMDBLog {
    /// The table that blanks free pages.
    private static let blanksName = "blanks"
    /// How often it is tried to blank pages that a reader keeps, a moment apart: longer than a
    /// reader lives.
    private static let attempts = 400
    private static let microsecondsBetweenAttempts: UInt32 = 100_000

    /// See `LogStorage`; one transaction reads many.
    package func readAttached(
        from first: UInt64,
        _ body: (_ sequence: UInt64, Span<UInt8>) throws -> Bool
    ) throws {
        var next = first
        var isDone = false
        while !isDone {
            var left = Self.attachedPerTransaction
            try read { transaction, tables in
                isDone = true
                try transaction.scan(tables.attached, from: Key(next)) { key, value in
                    guard key.count == 8, try body(key.loadUInt64BigEndian(at: 0), value) else {
                        return false
                    }
                    next = key.loadUInt64BigEndian(at: 0) + 1
                    left -= 1
                    isDone = left > 0
                    return left > 0
                }
            }
        }
    }

    /// A reader lives at most for so many.
    private static let attachedPerTransaction = 65_536

    /// See `LogStorage`: in the log, in the archive beside it, and in backups.
    ///
    /// What stands for an evidence is as long as that was, so it takes its very place; where older
    /// copies of the page left something, in pages that are free or between what is in use, zeros
    /// stand then.
    ///
    /// - Throws: `LogStorageFault.busy` where a reader keeps an older state for long.
    package func eraseEvidence(of sequences: [UInt64]) throws {
        guard !sequences.isEmpty else { return }
        try mappingFaults {
            try withEnvironment { try replaceEvidence(of: sequences, in: $0) }
            // The memory that LMDB keeps for pages goes with the environment.
            try reopen()
            try withEnvironment { opened in
                // Whoever commits waits.
                try opened.environment.write { _ in
                    try PageGaps.blank(in: path + "/" + LedgerDirectory.dataName)
                }
                try blankFreePages(of: opened.environment)
            }
        }
        for place in try copies() {
            try ArchivedEvidence(ArchiveDirectory(at: place, forWriting: false)).erase(sequences)
        }
    }

    private func replaceEvidence(of sequences: [UInt64], in opened: Current) throws {
        try opened.files?.check()
        try opened.environment.write(growingBy: MapSize.growth) { transaction in
            for sequence in sequences {
                let erased = try transaction.get(opened.tables.attached, Key(sequence)) {
                    ErasedEvidence.digest($0) == nil ? ErasedEvidence.bytes(for: $0) : nil
                }
                guard case let erased?? = erased else { continue }
                try transaction.put(opened.tables.attached, Key(sequence), erased.span)
            }
        }
    }

    private func blankFreePages(of environment: LMDB.Environment) throws {
        guard let blanks = try environment.table(Self.blanksName, create: true) else { return }
        for _ in 0..<Self.attempts {
            if try environment.blankFreePages(using: blanks) { return }
            usleep(Self.microsecondsBetweenAttempts)
        }
        throw LogStorageFault(.busy, "a reader keeps what is to be deleted: try again")
    }

    /// The archives that this ledger is known to have, those included whose first writer was stopped.
    private func copies() throws -> [String] {
        let ledger = URL(filePath: path).deletingLastPathComponent().path(percentEncoded: false)
        let backups = try BackupList.read(ledgerPath: ledger).own
        return ([ledger + "/" + ArchiveDirectory.name] + backups.map { $0.path + "/log" })
            .filter { DurableFile.exists($0) }
    }
}
