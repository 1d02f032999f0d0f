import DurableFiles
import Encodings
import EntitlementLedger
import EventLog
import Foundation
package import LedgerAPI

/// Writes what a server streams of an export (`ExportStream`) into a directory that is made: the same files
/// as of one that is written beside the ledger.
///
/// Whoever sends it may be anybody: no file but those of an export is written, and none but those that the
/// manifest names, with the bytes that it names, is left.
package final class ExportReceiver {
    private let folder: ExportFolder
    /// Of a line that did not end yet.
    private var rest: [UInt8] = []
    private var current: Current?
    private var written: [ExportedFile] = []
    private var manifest: [UInt8]?
    private var signature: [UInt8]?

    /// A file on its way.
    private struct Current {
        let name: String
        let writer: ExportWriter
        var digest = FileDigest()
    }

    /// Makes the directory, or takes one that is empty.
    ///
    /// - Throws: `OperationFault`.
    package init(into output: String) throws {
        folder = try ExportFolder.make(URL(filePath: output).standardizedFileURL.path)
    }

    /// Takes the next bytes.
    ///
    /// - Throws: `OperationFault` where they are of no export, or cannot be written.
    package func take(_ bytes: [UInt8]) throws {
        var bytes = bytes[...]
        while let end = bytes.firstIndex(of: 0x0A) {
            let line = rest + bytes[..<end]
            rest = []
            try takeLine(line)
            bytes = bytes[(end + 1)...]
        }
        rest += bytes
        guard rest.count <= ExportBundle.lineByteLimit else { throw noExport }
    }

    /// Ends the export: with the manifest it is whole.
    ///
    /// - Throws: `OperationFault` where something is missing, or is other than the manifest says.
    package func finish() throws -> ExportAnswer {
        try endFile()
        guard rest.isEmpty, let manifest, let signature,
            let stated = ExportManifestAnswer(reading: manifest)
        else { throw noExport }
        // A file without lines has none in the stream.
        for file in stated.files where !written.contains(where: { $0.name.isSame(as: file.name) }) {
            try begin(file.name)
            try endFile()
        }
        let isWhole = stated.files.allSatisfy { file in
            written.contains {
                $0.name.isSame(as: file.name) && $0.byteCount == file.bytes
                    && $0.digest.hex.isSame(as: file.sha256)
            }
        }
        guard isWhole, written.count == stated.files.count else {
            throw OperationFault(
                .damaged,
                "what the server sent is not what its manifest says",
                place: folder.path
            )
        }
        try folder.finish(
            ExportManifest(
                text: String(decoding: manifest, as: UTF8.self),
                note: String(decoding: signature, as: UTF8.self)
            )
        )
        return ExportAnswer(
            path: folder.path,
            records: stated.records,
            redaction: stated.redaction,
            manifest: try folder.described(ExportFile.manifest).digest.hex
        )
    }

    /// Removes the files that were written: nobody takes a part for the whole.
    package func discard() {
        current = nil
        // The folder was empty: whatever has the name of such a file is from here.
        for name in ExportPlan.streamedNames + [ExportFile.manifest, ExportFile.signature] {
            DurableFile.remove(folder.url(name).path)
        }
    }

    private func takeLine(_ line: [UInt8]) throws {
        let (name, text) = ExportBundle.parts(line)
        let content = ExportBundle.content(text)
        if name.isSame(as: ExportFile.manifest), manifest == nil {
            try endFile()
            manifest = content
        } else if name.isSame(as: ExportFile.signature), manifest != nil, signature == nil {
            signature = content
        } else {
            // The manifest and its signature come last.
            guard manifest == nil else { throw noExport }
            if current.map({ !$0.name.isSame(as: name) }) ?? true { try begin(name) }
            current?.digest.add(content)
            try current?.writer.write(content)
        }
    }

    private func begin(_ name: String) throws {
        try endFile()
        guard ExportPlan.streamedNames.holds(name),
            !written.contains(where: { $0.name.isSame(as: name) })
        else { throw noExport }
        current = Current(name: name, writer: try folder.writer(name))
    }

    private func endFile() throws {
        guard let ended = current else { return }
        current = nil
        try ended.writer.close()
        written.append(ended.digest.file(ended.name))
    }

    private var noExport: OperationFault {
        OperationFault(.wrongAnswer, "what the server sent is no whole export", place: folder.path)
    }
}
