import Foundation
import Testing

/// The test vectors beside the package; absent in a checkout of the package alone.
enum Vectors {
    static let root: URL = {
        var folder = URL(filePath: #filePath).deletingLastPathComponent()
        while folder.path != "/", !exists(folder.appending(path: "Package.swift")) {
            folder.deleteLastPathComponent()
        }
        return folder.deletingLastPathComponent().appending(path: "shared/vectors/audit-log")
    }()

    static let arePresent = exists(root)
    static let absence: Comment = "../shared/vectors/audit-log is not beside the package"

    static func data(_ path: String) throws -> [UInt8] {
        Array(try Data(contentsOf: root.appending(path: path)))
    }

    static func text(_ path: String) throws -> String {
        try String(contentsOf: root.appending(path: path), encoding: .utf8)
    }

    static func json<T: Decodable>(_ path: String, as type: T.Type = T.self) throws -> T {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        return try decoder.decode(type, from: Data(contentsOf: root.appending(path: path)))
    }

    /// Every file below a folder, as paths relative to it, sorted.
    static func files(below path: String) throws -> [String] {
        let folder = root.appending(path: path)
        return try FileManager.default.subpathsOfDirectory(atPath: folder.path)
            .filter { !isFolder(folder.appending(path: $0)) }
            .sorted()
    }

    static func exists(_ url: URL) -> Bool {
        FileManager.default.fileExists(atPath: url.path)
    }

    private static func isFolder(_ url: URL) -> Bool {
        (try? url.resourceValues(forKeys: [.isDirectoryKey]))?.isDirectory ?? false
    }
}
