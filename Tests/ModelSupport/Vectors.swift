package import Encodings
import Entitlements
package import Foundation

/// The vectors that others made; they stand beside the project and are never copied into it.
package enum Vectors {
    /// Why a test that needs them is skipped.
    package static let absence = "../shared/vectors is absent"

    /// `shared/vectors/stores` of the nearest folder above this file that has one.
    package static let folder: URL? = {
        var folder = URL(filePath: #filePath)
        while folder.path != "/" {
            folder = folder.deletingLastPathComponent()
            let vectors = folder.appending(path: "shared/vectors/stores")
            if FileManager.default.fileExists(atPath: vectors.path) { return vectors }
        }
        return nil
    }()

    /// Whether the folder is there.
    package static var arePresent: Bool { folder != nil }

    /// Without the folder: tests that need it are skipped before.
    private struct Absent: Error {}

    /// The bytes of a file.
    package static func bytes(_ path: String) throws -> [UInt8] {
        guard let folder else { throw Absent() }
        return Array(try Data(contentsOf: folder.appending(path: path)))
    }

    /// A file as JSON.
    package static func json(_ path: String) throws -> JSONValue {
        try JSONValue(parsing: bytes(path))
    }
}
