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
    /// does not extend it; an older checkpoint, that got cosignatures meanwhile, stands under its size alone.
    ///
    /// `note`: a signed note.
    ///
    /// - Throws: `OperationFault.forked` where the place holds a checkpoint that the log does not
    ///   extend, or is a file with a newer one; where it cannot be read or written; `NoteFault`.
    package static func put(_ note: String, at path: String, of ledger: Ledger) throws {
        var isDirectory = false
        _ = FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory)
        let file = isDirectory ? path + "/" + ArchiveLayout.checkpoint : path
        let size = try Checkpoint(parsing: SignedNote.parse(note).text).size
        var isNewest = true
        if let count = try DurableFile.byteCount(file), count > 0 {
            let standing = try ProofFile.text(file)
            if let fault = try ledger.prover.fault(against: standing) {
                throw OperationFault(
                    .forked,
                    fault.detail,
                    place: file,
                    hint: "what was published stays: it is the proof that history was changed"
                )
            }
            isNewest = try Checkpoint(parsing: SignedNote.parse(standing).text).size <= size
        }
        guard isNewest || isDirectory else {
            throw OperationFault(
                .forked,
                "a newer checkpoint was published",
                place: file,
                hint: "what was published stays: name another file, or a directory"
            )
        }
        for file in (isDirectory ? ["\(path)/\(size)"] : []) + (isNewest ? [file] : []) {
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
