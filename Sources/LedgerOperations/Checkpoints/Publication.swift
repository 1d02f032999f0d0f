public import EntitlementLedger
import EventLog
import Foundation
import LMDBStorage
import LedgerAPI

/// Checkpoints in places where others find them.
public enum Publication {
    /// Bytes of a checkpoint at most.
    private static let byteLimit = 4 << 20

    /// Writes a checkpoint to a file, or into a directory as `checkpoint` and under its size.
    ///
    /// What was published is what shows that history was changed, so it is replaced by nothing that
    /// does not extend it.
    ///
    /// `note`: a signed note.
    ///
    /// - Throws: `OperationFault.forked` where the place holds a checkpoint that the log does not
    ///   extend; where it cannot be read or written; `NoteFault`.
    public static func put(_ note: String, at path: String, of ledger: Ledger) throws {
        var isDirectory = false
        _ = FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory)
        let file = isDirectory ? path + "/" + ArchiveLayout.checkpoint : path
        if let count = DurableFile.byteCount(file), count > 0 {
            if let fault = try ledger.prover.fault(against: published(in: file)) {
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

    private static func published(in file: String) throws -> String {
        guard let data = FileManager.default.contents(atPath: file) else {
            throw OperationFault(.noFile, "the file cannot be read", place: file)
        }
        guard data.count <= byteLimit else {
            throw OperationFault(.tooLarge, "the file is too long", place: file)
        }
        guard let text = String(validating: data, as: UTF8.self) else {
            throw OperationFault(.notText, "the file is not UTF-8", place: file)
        }
        return text
    }
}
