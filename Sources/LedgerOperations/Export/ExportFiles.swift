import DurableFiles
package import EntitlementLedger
import Foundation
import LMDBStorage

/// An export in a directory, to be checked.
package struct ExportFiles: ExportSource {
    let path: String

    /// Reads it at its path.
    package init(path: String) { self.path = path }

    private static let pieceByteCount = 1 << 20

    /// Lends a file in pieces; false: there is none.
    package func read(_ name: String, _ body: ([UInt8]) throws -> Void) throws -> Bool {
        guard let file = file(name), let handle = FileHandle(forReadingAtPath: file) else {
            return false
        }
        defer { try? handle.close() }
        while let piece = try handle.read(upToCount: Self.pieceByteCount), !piece.isEmpty {
            try body(Array(piece))
        }
        return true
    }

    /// A file line by line; nil: there is none.
    package func lines(_ name: String) throws -> (any ExportLines)? {
        guard let file = file(name) else { return nil }
        let limit = ExportBundle.handedByteLimit
        return FileLines(reader: try LineReader(file, byteLimit: limit, keepsMark: true))
    }

    /// The path of a file of the export; nil for what is no regular file in its own directory.
    ///
    /// Whoever made the export may have named what others must not read, or what never ends.
    private func file(_ name: String) -> String? {
        let file = path + "/" + name
        return !name.contains("/") && DurableFile.isFile(file) ? file : nil
    }

    /// The files that are there.
    package func names() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: path).sorted()
    }

    private struct FileLines: ExportLines {
        let reader: LineReader

        func next() throws -> [UInt8]? { try reader.next().map { $0.bytes ?? [] } }
    }
}
