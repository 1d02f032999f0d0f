import EntitlementLedger
import Entitlements
import Foundation

/// The directory that an export is written into: each file beside its name until it is whole.
struct ExportFolder {
    let path: String

    /// What is written first and removed last: an export that was stopped goes on from it.
    private static let planName = "plan.json"
    private static let partSuffix = ".part"

    /// Makes the directory, or takes one that is empty.
    ///
    /// - Throws: `CommandFailure`.
    static func make(_ path: String) throws -> ExportFolder {
        let manager = FileManager.default
        let contents = (try? manager.contentsOfDirectory(atPath: path)) ?? []
        guard contents.isEmpty else {
            throw CommandFailure(
                .cannotCreate,
                "not_empty",
                "the directory is not empty",
                place: path,
                hint: "choose another, or --resume an export that was stopped"
            )
        }
        do {
            try manager.createDirectory(
                atPath: path,
                withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o700]
            )
        } catch {
            throw CommandFailure(
                .cannotCreate,
                "cannot_create",
                "the directory cannot be made",
                place: path
            )
        }
        return ExportFolder(path: path)
    }

    /// The plan of an export that was stopped; nil: it was not, or there is none.
    var plan: ExportPlan? {
        guard let data = try? Data(contentsOf: url(Self.planName)),
            let json = try? JSONValue(parsing: Array(data))
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
        try? FileManager.default.removeItem(at: url(Self.planName))
    }

    func url(_ name: String) -> URL { URL(filePath: path).appending(path: name) }

    /// Where a file is made before it has its name.
    func part(_ name: String) -> String { url(name + Self.partSuffix).path }

    /// A file that stands whole already, as it was written; nil: it is to be written.
    func standing(_ name: String) throws -> ExportedFile? {
        guard FileManager.default.fileExists(atPath: url(name).path) else { return nil }
        try? FileManager.default.removeItem(atPath: part(name))
        return try described(name)
    }

    /// A file's digest.
    func described(_ name: String) throws -> ExportedFile {
        var digest = FileDigest()
        _ = try ExportFiles(path: path).read(name) { digest.add($0) }
        return digest.file(name)
    }

    /// Writes a file whole, or not at all.
    func write(_ name: String, _ body: (inout ExportWriter) throws -> Void) throws {
        var writer = try ExportWriter(part(name))
        try body(&writer)
        try writer.close()
        try give(name)
    }

    /// Gives a file that was made its name.
    func give(_ name: String) throws {
        // One that stands there is of an export that was stopped before it was whole.
        try? FileManager.default.removeItem(at: url(name))
        try FileManager.default.moveItem(atPath: part(name), toPath: url(name).path)
    }
}

/// A new file, readable by its owner only, written in pieces.
struct ExportWriter {
    private let handle: FileHandle
    private let path: String
    private var waiting: [UInt8] = []

    /// Bytes that wait for the disk.
    private static let bufferByteCount = 1 << 18

    init(_ path: String) throws {
        self.path = path
        guard
            FileManager.default.createFile(
                atPath: path,
                contents: nil,
                attributes: [.posixPermissions: 0o600]
            ), let handle = FileHandle(forWritingAtPath: path)
        else {
            throw CommandFailure(
                .cannotCreate,
                "cannot_create",
                "the file cannot be made",
                place: path
            )
        }
        self.handle = handle
    }

    mutating func write(_ text: String) throws {
        waiting += text.utf8
        if waiting.count >= Self.bufferByteCount { try flush() }
    }

    /// The bytes are on the disk when this returns.
    mutating func close() throws {
        try flush()
        do {
            try handle.synchronize()
            try handle.close()
        } catch {
            throw failure
        }
    }

    private mutating func flush() throws {
        do {
            try handle.write(contentsOf: Data(waiting))
        } catch {
            throw failure
        }
        waiting.removeAll(keepingCapacity: true)
    }

    private var failure: CommandFailure {
        CommandFailure(
            .io,
            "output",
            "the file cannot be written",
            place: path,
            hint: "make room, then --resume"
        )
    }
}
