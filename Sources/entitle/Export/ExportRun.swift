import Encodings
import EntitlementLedger
import Entitlements
import LedgerAPI

/// Writes an export into its directory, or goes on with one that was stopped.
struct ExportRun {
    let export: LedgerExport
    let folder: ExportFolder

    /// Writes what is missing, then the manifest.
    ///
    /// - Returns: the manifest as a file.
    func write(progress: Progress) throws -> ExportedFile {
        var files: [ExportedFile] = []
        for file in export.plan.files {
            if let standing = try folder.standing(file.name) {
                files.append(standing)
                continue
            }
            if file.form == .database {
                try database(file)
            } else {
                try folder.write(file.name) { writer in
                    var text = ExportText(file, of: export)
                    try writer.write(text.head)
                    for part in file.parts {
                        try lines(of: part, progress) { try writer.write(text.text(part, $0)) }
                    }
                    try writer.write(text.tail)
                }
            }
            files.append(try folder.described(file.name))
        }
        progress.finish()
        try folder.finish(try export.manifest(of: files))
        return try folder.described(ExportFile.manifest)
    }

    private func database(_ file: ExportFile) throws {
        let database = try ExportDatabase(folder.part(file.name), export.plan.tables)
        for part in file.parts { try lines(of: part, nil) { try database.write(part, $0) } }
        try database.close()
        try folder.give(file.name)
    }

    private func lines(
        of part: ExportPart,
        _ progress: Progress?,
        _ body: (JSONValue) throws -> Void
    ) throws {
        var position = LedgerExport.Position(part)
        var done: UInt64 = 0
        while !position.isAtEnd {
            for line in try export.next(&position, Explanation.forSupport) { try body(line) }
            guard part == .events || part == .proofs else { continue }
            done = position.index
            progress?.show(done, of: export.recordCount)
        }
    }
}
