import Foundation

/// Where an export may be written.
package enum ExportPlace {
    /// Refuses a path inside of the ledger: what is exported must be free to be deleted, and the
    /// ledger holds nothing in clear (law 6).
    ///
    /// - Throws: `OperationFault`.
    package static func check(_ output: String, ledger: String) throws {
        let inside = resolved(output) + "/"
        guard inside.hasPrefix(resolved(ledger) + "/") else { return }
        throw OperationFault(
            .usage,
            "an export is not written into the ledger's own directory",
            place: "--output"
        )
    }

    /// A path without links, as far as it is there already.
    private static func resolved(_ path: String) -> String {
        var existing = URL(filePath: path).standardizedFileURL
        var rest: [String] = []
        while existing.path != "/", !FileManager.default.fileExists(atPath: existing.path) {
            rest.insert(existing.lastPathComponent, at: 0)
            existing.deleteLastPathComponent()
        }
        return rest.reduce(existing.resolvingSymlinksInPath()) { $0.appending(path: $1) }
            .standardizedFileURL.path
    }
}
