import Encodings
public import EntitlementLedger
import Entitlements
import EventLog
import Foundation
import LMDBStorage
import LedgerAPI
import Stores

/// An export into a directory, begun or stopped; the ledger notes where it is, so that an erasure
/// can name it.
public struct ExportRun {
    /// What is exported.
    package let export: LedgerExport
    /// Whom and what it names: read once, and noted at its begin and its end.
    private let namedStreams: [UInt64]
    private let folder: ExportFolder
    private let ledgerPath: String

    /// Begins an export into a directory that is made.
    ///
    /// `ledgerPath`: the ledger's own directory.
    ///
    /// - Throws: `LedgerFault`, `OperationFault`.
    public init(
        _ plan: ExportPlan,
        into output: String,
        of ledger: Ledger,
        at ledgerPath: String
    ) throws {
        let path = URL(filePath: output).standardizedFileURL.path
        let export = try ledger.exporter.export(plan, reading: StoredEvidenceNames())
        guard try !export.isNamed(in: path) else {
            throw OperationFault(
                .usage,
                "the path holds the customer's id, and the ledger notes where exports are",
                place: "--output",
                hint: "choose a name that names nobody"
            )
        }
        try self.init(export, export.namedStreams(), ExportFolder.make(path), ledgerPath)
        // From here on there may be bytes that an erasure has to name: the plan says of whom they are.
        try note(nil)
        try folder.begin(export.plan)
    }

    /// Goes on with an export that was stopped.
    ///
    /// - Throws: `LedgerFault`, `OperationFault` where none was.
    public init(resuming output: String, of ledger: Ledger, at ledgerPath: String) throws {
        let folder = ExportFolder(path: URL(filePath: output).standardizedFileURL.path)
        guard let plan = try folder.plan() else {
            throw OperationFault(
                .noInput,
                "no export was stopped in this directory",
                place: output
            )
        }
        let export = try ledger.exporter.export(plan, reading: StoredEvidenceNames())
        self.init(export, try export.namedStreams(), folder, ledgerPath)
        // Who was stopped may not have come to it.
        try note(nil)
    }

    private init(
        _ export: LedgerExport,
        _ namedStreams: [UInt64],
        _ folder: ExportFolder,
        _ ledgerPath: String
    ) {
        self.export = export
        self.namedStreams = namedStreams
        self.folder = folder
        self.ledgerPath = ledgerPath
    }

    /// The directory.
    public var path: String { folder.path }

    /// Writes what is missing, then the manifest, and notes that the export is whole.
    ///
    /// - Returns: the manifest as a file.
    public func write(
        progress: (_ done: UInt64, _ of: UInt64) -> Void = { _, _ in }
    ) throws -> ExportedFile {
        let manifest = try writeFiles(progress)
        try note(manifest)
        // Last: whoever was stopped before the note goes on with it.
        folder.removePlan()
        return manifest
    }

    /// Notes the export in the ledger; `manifest`: nil: it has begun.
    private func note(_ manifest: ExportedFile?) throws {
        var streams = JSONValue.array(namedStreams.map { .integer($0) })
        if case .range = export.plan.scope { streams = .null }
        let line = JSONValue.members([
            "path": .string(path), "manifest": .optional(manifest?.digest.hex),
            "madeAt": .instant(export.plan.madeAt),
            "redaction": .string(export.plan.redaction.rawValue), "streams": streams,
        ])
        try LedgerDirectory.noteExports([line.description], at: ledgerPath)
    }

    private func writeFiles(_ progress: (UInt64, UInt64) -> Void) throws -> ExportedFile {
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
        try folder.finish(try export.manifest(of: files))
        return try folder.described(ExportFile.manifest)
    }

    private func database(_ file: ExportFile) throws {
        let database = try ExportDatabase(folder.part(file.name), export.plan.tables)
        for part in file.parts { try lines(of: part, { _, _ in }) { try database.write(part, $0) } }
        try database.close()
        try folder.give(file.name)
    }

    private func lines(
        of part: ExportPart,
        _ progress: (UInt64, UInt64) -> Void,
        _ body: (ExportLine) throws -> Void
    ) throws {
        var position = LedgerExport.Position(part)
        var done: UInt64 = 0
        while !position.isAtEnd {
            for line in try export.next(&position) { try body(line) }
            guard part == .events || part == .proofs else { continue }
            done = position.index
            progress(done, export.recordCount)
        }
    }
}
