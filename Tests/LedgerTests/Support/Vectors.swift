import Entitlements
import Foundation
import Testing

/// The vectors that others made; they stand beside the project and are never copied into it.
enum Vectors {
    /// Why a test that needs them is skipped.
    static let absence: Comment = "../shared/vectors is absent"

    /// `shared/vectors/stores` of the nearest folder above this file that has one.
    static let folder: URL? = {
        var folder = URL(filePath: #filePath)
        while folder.path != "/" {
            folder = folder.deletingLastPathComponent()
            let vectors = folder.appending(path: "shared/vectors/stores")
            if FileManager.default.fileExists(atPath: vectors.path) { return vectors }
        }
        return nil
    }()

    static var arePresent: Bool { folder != nil }

    static func json(_ path: String) throws -> JSONValue {
        let folder = try #require(folder)
        let data = try Data(contentsOf: folder.appending(path: path))
        return try JSONValue(parsing: Array(data))
    }
}
