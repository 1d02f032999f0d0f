import Encodings
import EntitlementLedger
import Entitlements
import Foundation
import LedgerOperations

/// A ledger in a folder of the test's own, with a catalog, opened as any program opens it.
struct FileLedger {
    /// The ledger is in it.
    let folder: String
    var path: String { folder + "/ledger" }

    /// The master key, which no test keeps in a file.
    static let masterKey = (0..<32).map { UInt8($0) }
    /// What it is opened with.
    static let options = OpenLedger.Options(key: .bytes(masterKey), createsIfMissing: true)

    /// Lends a ledger whose log holds one event, the catalog; gone when the body ends.
    static func with(_ body: (FileLedger) throws -> Void) throws {
        try withTemporaryFolder { folder in
            let ledger = FileLedger(folder: folder)
            let catalog = #"{"tiers":["free","pro"],"features":[],"products":[]}"#
            try ledger.open { open in
                _ = try open.appender.publish(
                    JSONValue(parsing: Array(catalog.utf8)),
                    effective: nil,
                    Request(id: "catalog", source: Source.catalog, environment: .production)
                )
            }
            try body(ledger)
        }
    }

    /// Lends it, open; by default to be written to.
    func open<Result>(
        at place: String? = nil,
        isReadOnly: Bool = false,
        _ body: (Ledger) throws -> Result
    ) throws -> Result {
        var options = Self.options
        options.isReadOnly = isReadOnly
        let ledger = try Ledger.open(at: place ?? path, options: options)
        defer { try? ledger.close() }
        return try body(ledger)
    }

    /// Lends it with its files.
    func openWithFiles<Result>(_ body: (OpenLedger) throws -> Result) throws -> Result {
        let open = try OpenLedger(at: path, options: Self.options)
        defer { try? open.close() }
        return try body(open)
    }

    /// Imports lines of a file.
    func importing(
        _ lines: [String],
        into place: String? = nil,
        _ change: (inout Importer.Options) -> Void = { _ in }
    ) throws -> ImportReport {
        try importing(bytes: [Array((lines.map { $0 + "\n" }.joined()).utf8)], into: place, change)
    }

    /// Imports files with these bytes.
    func importing(
        bytes contents: [[UInt8]],
        into place: String? = nil,
        _ change: (inout Importer.Options) -> Void = { _ in }
    ) throws -> ImportReport {
        var options = Importer.Options()
        change(&options)
        let files = try contents.enumerated().map { index, bytes in
            try file("import-\(index)", bytes)
        }
        return try open(at: place) { ledger throws in
            var importer = Importer(ledger, options)
            try importer.run(files)
            return importer.report
        }
    }

    /// What it refuses, to be kept.
    func quarantine() throws -> ImportQuarantine {
        try ImportQuarantine(ofLedgerAt: path, masterKey: Self.masterKey)
    }

    /// Writes a file and returns its path.
    func file(_ name: String, _ bytes: [UInt8]) throws -> String {
        let path = folder + "/" + name
        try Data(bytes).write(to: URL(filePath: path))
        return path
    }

    /// Events of its log.
    func size(at place: String? = nil) throws -> UInt64 {
        try open(at: place, isReadOnly: true) { try $0.questions.size() }
    }

    /// A grant as a line of an import; `id` names the event and the grant.
    static func grant(
        _ id: String,
        to customer: String = "ann",
        reason: String = "asked for",
        more: String = ""
    ) -> String {
        """
        {"specversion":"1.0","id":"\(id)","source":"support","type":"grant.given",\
        "subject":"customer/\(customer)","time":"2026-01-01T00:00:00Z",\
        "data":{"grantId":"\(id)","tier":"pro","reason":"\(reason)"}\(more)}
        """
    }
}

extension ImportReport {
    /// Its numbers.
    var counts: [Int] { [appended, duplicate, refused] }
}

/// Lends a folder that is removed when the body ends.
func withTemporaryFolder<Result>(_ body: (String) throws -> Result) throws -> Result {
    let folder = FileManager.default.temporaryDirectory
        .appending(path: "operations-" + UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    return try body(folder.path)
}
