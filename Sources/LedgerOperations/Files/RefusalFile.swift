import DurableFiles
package import EntitlementLedger
import Entitlements
import Foundation

/// Refused signals that are in no note of the log yet, kept so that they outlive the process (Stores,
/// rule 5).
///
/// Stands in the ledger's directory as `refusals.json`: stores, codes and counts, nothing of anybody.
package struct RefusalFile: Sendable {
    /// The file's name.
    package static let name = "refusals.json"

    private let path: String

    /// The file of a ledger.
    package init(ofLedgerAt path: String) { self.path = path + "/" + Self.name }

    private struct Content: Codable {
        var counts: [Entry]

        struct Entry: Codable {
            var store: String
            var environment: String
            var code: String
            var count: Int
        }
    }

    /// What is kept; nothing where there is no file, or one that is none: it holds figures alone.
    ///
    /// - Throws: `FileFault`.
    package func read() throws -> [RefusalCount] {
        // One that a power cut emptied is none.
        guard let bytes = try DurableFile.read(path),
            let content = try? JSONDecoder().decode(Content.self, from: Data(bytes))
        else { return [] }
        return content.counts.compactMap { entry in
            StoreEnvironment(name: entry.environment).flatMap {
                RefusalCount(keptOf: entry.store, $0, entry.code, entry.count)
            }
        }
    }

    /// Keeps counts, durably, in place of those that were kept.
    ///
    /// - Throws: `FileFault`.
    package func write(_ counts: [RefusalCount]) throws {
        let content = Content(
            counts: counts.map {
                Content.Entry(
                    store: $0.store,
                    environment: $0.environment.name,
                    code: $0.code,
                    count: $0.count
                )
            }
        )
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        try DurableFile.replace(path, with: Array(try encoder.encode(content)) + [0x0A])
    }
}
