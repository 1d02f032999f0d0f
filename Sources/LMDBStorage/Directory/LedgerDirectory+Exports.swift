import DurableFiles
import EventLog

extension LedgerDirectory {
    /// Where the exports are listed that were made of a ledger, a line each; an erasure names those
    /// that hold what it erases.
    package static let exportsName = "exports.ndjson"

    /// Adds lines to the list of exports.
    ///
    /// `lines`: JSON on one line each; paths and numbers of streams, no id.
    ///
    /// - Throws: as ``change(_:at:_:)``. Cost: the list is written anew.
    package static func noteExports(_ lines: [String], at path: String) throws {
        try change(exportsName, at: path) {
            (try DurableFile.read(path + "/" + exportsName) ?? [])
                + lines.flatMap { Array(($0 + "\n").utf8) }
        }
    }

    /// The lines of the list of exports, the oldest first.
    package static func exports(at path: String) throws -> [String] {
        let bytes = try DurableFile.read(path + "/" + exportsName) ?? []
        return String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
    }
}
