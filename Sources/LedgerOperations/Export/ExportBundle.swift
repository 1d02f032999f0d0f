import Encodings
package import EntitlementLedger
import Entitlements
import Foundation

/// An export in one file, as the server streams it: `{"file":NAME,"line":LINE}` a line.
package struct ExportBundle: ExportSource {
    let path: String

    /// Reads it at its path.
    package init(path: String) { self.path = path }

    private static let prefix = #"{"file":""#
    private static let separator = #"","line":"#

    /// Lends a file in pieces; false: there is none.
    package func read(_ name: String, _ body: ([UInt8]) throws -> Void) throws -> Bool {
        // A file without lines has none here.
        try each { file, line in
            guard file == name else { return }
            try body(Self.content(line))
        }
        return true
    }

    /// The bytes of a file that a line of it stands for.
    static func content(_ line: [UInt8]) -> [UInt8] {
        // What is text rather than JSON stands as a string; nothing else need be read.
        if line.first == UInt8(ascii: "\""), let text = try? JSONValue(parsing: line).string {
            return Array(text.utf8)
        }
        return line + [0x0A]
    }

    /// A file line by line; nil: there is none.
    package func lines(_ name: String) throws -> (any ExportLines)? {
        try names().contains(name) ? FileLines(name: name, reader: try reader()) : nil
    }

    /// The files that are there.
    package func names() throws -> [String] {
        var names: Set<String> = []
        try each { file, _ in names.insert(file) }
        return names.sorted()
    }

    /// Bytes of a line: of a customer with a million events the timeline is one.
    static let lineByteLimit = 1 << 28
    /// Bytes of a line that is handed out: the longest are events with the document of a catalog.
    static let handedByteLimit = 16 << 20

    private func reader() throws -> LineReader {
        try LineReader(path, byteLimit: Self.lineByteLimit, keepsMark: true)
    }

    private func each(_ body: (_ file: String, _ line: [UInt8]) throws -> Void) throws {
        let reader = try reader()
        while let line = try reader.next() {
            let (file, content) = Self.parts(line.bytes ?? [])
            try body(file, content)
        }
    }

    /// A line's file and content, as they stand; a line of another form is of no file.
    static func parts(_ line: [UInt8]) -> (file: String, content: [UInt8]) {
        let separator = Array(separator.utf8)
        guard line.starts(with: prefix.utf8), line.last == UInt8(ascii: "}") else {
            return ("", [])
        }
        let name = line.dropFirst(prefix.utf8.count).prefix { $0 != UInt8(ascii: "\"") }
        let rest = line[name.endIndex...]
        guard rest.starts(with: separator) else { return ("", []) }
        return (
            String(decoding: name, as: UTF8.self),
            Array(rest.dropFirst(separator.count).dropLast())
        )
    }

    private struct FileLines: ExportLines {
        let name: String
        let reader: LineReader

        func next() throws -> [UInt8]? {
            while let line = try reader.next() {
                let (file, content) = ExportBundle.parts(line.bytes ?? [])
                if file == name {
                    return content.count <= ExportBundle.handedByteLimit ? content : []
                }
            }
            return nil
        }
    }
}
