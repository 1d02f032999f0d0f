import DurableFiles
package import EntitlementLedger
package import EventLog
import Foundation
import LMDBStorage
import LedgerAPI

/// Checkpoints in places where others find them.
package enum Publication {
    /// Writes a checkpoint to a file, or into a directory as `checkpoint` and under its size.
    ///
    /// What was published is what shows that history was changed, so it is replaced by nothing that
    /// does not extend it.
    ///
    /// `note`: a signed note.
    ///
    /// - Throws: `OperationFault.forked` where the place holds a checkpoint that the log does not
    ///   extend; where it cannot be read or written; `NoteFault`.
    package static func put(_ note: String, at path: String, of ledger: Ledger) throws {
        var isDirectory = false
        _ = FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory)
        let file = isDirectory ? path + "/" + ArchiveLayout.checkpoint : path
        if let count = try DurableFile.byteCount(file), count > 0 {
            if let fault = try ledger.prover.fault(against: ProofFile.text(file)) {
                throw OperationFault(
                    .forked,
                    fault.detail,
                    place: file,
                    hint: "what was published stays: it is the proof that history was changed"
                )
            }
        }
        let size = try Checkpoint(parsing: SignedNote.parse(note).text).size
        let files = isDirectory ? ["\(path)/\(size)", file] : [file]
        for file in files {
            try OutputFile.write(note, to: file, mode: OutputFile.forOthers)
        }
    }

    /// Where the archive of a served ledger goes, and what its `ledger.json` says.
    ///
    /// - Throws: `ArchiveFault`, `LedgerOpenFault`.
    package static func archive(
        at place: String,
        ofLedgerAt path: String
    ) throws -> (store: any ArchiveStore, manifest: [UInt8]) {
        (
            try ArchiveDirectory(at: place, forWriting: true),
            try LedgerDirectory.manifestBytes(at: path)
        )
    }
}

extension Publication {
    /// Events that an archive's newest checkpoint covers; nil: there is no archive.
    ///
    /// - Throws: `ArchiveFault`, `NoteFault`, `FileFault`.
    package static func archivedSize(at place: String) throws -> UInt64? {
        let archive = try ArchiveDirectory(at: place, forWriting: false)
        return try ArchiveReader(archive).note().map { try Checkpoint(parsing: $0.text).size }
    }
}
