import DurableFiles
import Encodings
import EntitlementLedger
import Entitlements
import Foundation
import LMDBStorage

/// The directory that an export is written into: each file beside its name until it is whole.
struct ExportFolder {
    let path: String

    /// What is written first and removed last: an export that was stopped goes on from it.
    private static let planName = "plan.json"
    private static let partSuffix = ".part"

    /// Makes the directory, or takes one that is empty.
    ///
    /// - Throws: `OperationFault`.
    static func make(_ path: String) throws -> ExportFolder {
        let contents = try DurableFile.names(in: path)
        guard contents.isEmpty else {
            throw OperationFault(
                .notEmpty,
                "the directory is not empty",
                place: path,
                hint: "choose another, or --resume an export that was stopped"
            )
        }
        do {
            try DurableFile.makeFolder(path)
        } catch {
            throw OperationFault(
                .cannotCreate,
                "the directory cannot be made",
                place: path
            )
        }
        return ExportFolder(path: path)
    }

    /// The plan of an export that was stopped; nil: it was not, or there is none.
    ///
    /// - Throws: `FileFault`, `CocoaError` where a plan cannot be read.
    func plan() throws -> ExportPlan? {
        guard let bytes = try DurableFile.read(url(Self.planName).path),
            let json = try? JSONValue(parsing: bytes)
        else { return nil }
        return ExportPlan(json)
    }

    func begin(_ plan: ExportPlan) throws {
        try write(Self.planName) { try $0.write(plan.json.description + "\n") }
    }

    /// Writes the manifest and its signature: with them the export is whole.
    func finish(_ manifest: ExportManifest) throws {
        try write(ExportFile.manifest) { try $0.write(manifest.text) }
        try write(ExportFile.signature) { try $0.write(manifest.note) }
    }

    /// Takes the plan away: nothing is left to go on with.
    func removePlan() { DurableFile.remove(url(Self.planName).path) }

    func url(_ name: String) -> URL { URL(filePath: path).appending(path: name) }

    /// Where a file is made before it has its name.
    func part(_ name: String) -> String { url(name + Self.partSuffix).path }

    /// A file that stands whole already, as it was written; nil: it is to be written.
    func standing(_ name: String) throws -> ExportedFile? {
        guard FileManager.default.fileExists(atPath: url(name).path) else { return nil }
        DurableFile.remove(part(name))
        return try described(name)
    }

    /// A file's digest.
    func described(_ name: String) throws -> ExportedFile {
        var digest = FileDigest()
        _ = try ExportFiles(path: path).read(name) { digest.add($0) }
        return digest.file(name)
    }

    /// Begins a file, which has its name once it is closed.
    func writer(_ name: String) throws -> ExportWriter {
        try ExportWriter(url(name).path, suffix: Self.partSuffix)
    }

    /// Writes a file whole, or not at all.
    func write(_ name: String, _ body: (ExportWriter) throws -> Void) throws {
        let writer = try writer(name)
        try body(writer)
        try writer.close()
    }

    /// Gives a file that was made its name.
    func give(_ name: String) throws {
        try DurableFile.rename(part(name), to: url(name).path)
    }
}

/// A file of an export, written in pieces.
struct ExportWriter {
    private let output: FileOutput
    private let path: String

    fileprivate init(_ path: String, suffix: String) throws {
        self.path = path
        do {
            output = try FileOutput(path, suffix: suffix)
        } catch let fault as FileFault {
            throw OperationFault(making: path, fault)
        }
    }

    func write(_ text: String) throws { try perform { try output.write(text.utf8) } }

    func write(_ bytes: [UInt8]) throws { try perform { try output.write(bytes) } }

    /// The file is on the disk when this returns.
    func close() throws { try perform { try output.close() } }

    private func perform(_ body: () throws -> Void) throws {
        do {
            try body()
        } catch let fault as FileFault {
            throw OperationFault(writing: path, fault, hint: "make room, then --resume")
        }
    }
}
