import EntitlementLedger
package import Entitlements
import Foundation
import LMDBStorage
package import LedgerAPI

/// What whoever runs a ledger watches of its files: room, readers, and how old its copies are.
///
/// Each part stands alone: what cannot be told is nil and hides nothing else.
package struct LedgerFigures: Sendable {
    /// The maps of log and vault.
    package var maps: [Map]
    /// What its files take, and what is free; nil: the disk does not answer.
    package var disk: StatusAnswer.DiskUse?
    /// Bytes of the file system that it stands on.
    package var diskSize: Int64?
    /// When the last backup was made; nil: none was.
    package var lastBackup: Instant?
    /// When the first event was recorded that no checkpoint signs; nil: all are signed.
    package var unsignedSince: Instant?
    /// The archive; nil: none is kept.
    package var archive: Archive?

    /// How full the map of a part is, and who reads it.
    package struct Map: Sendable {
        /// The part's folder.
        package var part: String
        /// Bytes of address space; it grows where it is full.
        package var byteCount: Int
        /// Bytes up to the last page that was ever used.
        package var usedByteCount: Int
        /// Reader slots taken in all processes, idle ones too.
        package var readers: Int
        /// Reader slots that exist.
        package var readerLimit: Int
        /// Commits since the oldest state that somebody looks at; 0: nobody looks.
        package var oldestReaderCommits: Int
    }

    /// How far the archive is.
    package struct Archive: Sendable {
        /// When the first event was recorded that is not in it; nil: all are.
        package var missingSince: Instant?
    }

    /// Looks at an open ledger.
    ///
    /// `archive`: where its archive stands; nil: none is kept.
    ///
    /// Cost: a look at each file, some small reads of the log.
    package init(of open: OpenLedger, at path: String, archive: String?) {
        maps = open.directory.maps().map {
            Map(
                part: $0.part,
                byteCount: $0.byteCount,
                usedByteCount: $0.usedByteCount,
                readers: $0.readers,
                readerLimit: $0.readerLimit,
                oldestReaderCommits: $0.oldestReaderCommits
            )
        }
        let auditor = open.ledger.auditor
        // What does not answer now is told by its absence.
        disk = try? StatusAnswer.DiskUse(ofLedgerAt: path, auditor)
        // Nor here.
        let system = try? FileManager.default.attributesOfFileSystem(forPath: path)
        diskSize = (system?[.systemSize] as? NSNumber)?.int64Value
        // A list that cannot be read tells of no backup, as `doctor` says with the reason.
        lastBackup = try? BackupList.lastInstant(ofLedgerAt: path)
        // What cannot be told now is left out; where nothing was signed, the first event waits for it.
        unsignedSince = Self.first(behind: try? open.ledger.prover.signedSize(), auditor)
        self.archive = archive.map { place in
            // An archive that cannot be read holds nothing that anybody could use.
            let size = (try? Publication.archivedSize(at: place)) ?? 0
            return Archive(missingSince: Self.first(behind: size, auditor))
        }
    }

    private static func first(behind size: UInt64?, _ auditor: Auditor) -> Instant? {
        // A log that cannot be read is told by readiness.
        (try? size.map { try auditor.recordedAt(behind: $0) })?.flatMap(\.self)
    }
}

extension BackupList {
    /// When the last backup of a ledger with a copy of its log was made; nil: none was.
    ///
    /// - Throws: `LedgerOpenFault.damaged` for a list that is none.
    static func lastInstant(ofLedgerAt path: String) throws -> Instant? {
        try read(ledgerPath: path).own.compactMap { backup -> Instant? in
            guard let at = Instant(rfc3339: backup.at) else { return nil }
            guard let logAt = backup.logAt else { return at }
            return Instant(rfc3339: logAt).map { min($0, at) }
        }
        .max()
    }
}
