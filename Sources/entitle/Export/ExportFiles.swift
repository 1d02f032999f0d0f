import EntitlementLedger
import Foundation

/// An export in a directory, to be checked.
struct ExportFiles: ExportSource {
    let path: String

    private static let pieceByteCount = 1 << 20

    func read(_ name: String, _ body: ([UInt8]) throws -> Void) throws -> Bool {
        guard let handle = FileHandle(forReadingAtPath: path + "/" + name) else { return false }
        defer { try? handle.close() }
        while let piece = try handle.read(upToCount: Self.pieceByteCount), !piece.isEmpty {
            try body(Array(piece))
        }
        return true
    }

    func lines(_ name: String) throws -> (any ExportLines)? {
        let file = path + "/" + name
        guard FileManager.default.fileExists(atPath: file) else { return nil }
        return FileLines(reader: try LineReader(file))
    }

    func names() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: path).sorted()
    }

    private struct FileLines: ExportLines {
        let reader: LineReader

        func next() throws -> [UInt8]? { try reader.next().map { $0.bytes ?? [] } }
    }
}
