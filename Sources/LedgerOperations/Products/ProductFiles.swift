import DurableFiles
import Encodings
import EntitlementLedger
import Entitlements
import EventLog
import Glibc
import LedgerAPI

/// Where a ledger keeps the products of its stores: `products/SOURCE.json`, as they were loaded last,
/// and beside it why the last load failed (rows 1.4, 1.5).
///
/// They are no part of the log: whoever loses them loads them again.
package struct ProductFiles: Sendable {
    private let folder: String

    /// Bytes of a file: room for a few hundred products with two hundred prices and fifty languages each,
    /// and little enough to be read by a server.
    static let byteLimit = 16 << 20

    /// Those of a ledger's directory.
    package init(ofLedgerAt ledgerPath: String) { folder = ledgerPath + "/products" }

    /// What stands where products of a source are kept.
    enum Kept: Sendable {
        case nothing
        case whole(ProductDocument)
        /// It is not what was written, or cannot be read.
        case damaged
    }

    /// What is kept of a source.
    ///
    /// It is believed where it has the digest that it was written with; what is not is damaged, since
    /// products are never guessed.
    func kept(of source: ProductSource) -> Kept {
        let path = path(of: source)
        do {
            guard let byteCount = try DurableFile.byteCount(path) else {
                return DurableFile.exists(path) ? .damaged : .nothing
            }
            guard byteCount <= Self.byteLimit, let bytes = try DurableFile.read(path) else {
                return .damaged
            }
            let json = try JSONValue(parsing: bytes)
            let document = try ProductDocument.fields.read(json["kept"] ?? .null)
            guard document.source == source, !document.products.isEmpty,
                Self.digest(of: AnswerText(document)).isSame(as: json["digest"]?.string)
            else { return .damaged }
            return .whole(document)
        } catch {
            // Whatever is wrong with it: it is said, and nothing is taken from it.
            return .damaged
        }
    }

    /// Keeps what was loaded in place of what was kept, at once; the last fault is over.
    ///
    /// - Returns: false where it is more than is kept.
    /// - Throws: `FileFault`, `CocoaError`, `LogStorageFault.busy`.
    func keep(_ document: ProductDocument) throws -> Bool {
        let text = AnswerText(document)
        var bytes = Array(#"{"digest":""#.utf8) + Array(Self.digest(of: text).utf8)
        bytes += Array(#"","kept":"#.utf8) + text.bytes + Array("}\n".utf8)
        guard bytes.count <= Self.byteLimit else { return false }
        try alone(with: document.source) {
            try DurableFile.replace(path(of: document.source), with: bytes)
            DurableFile.remove(faultPath(of: document.source))
        }
        return true
    }

    /// Why the last load of a source failed; nil: it did not, or nobody knows.
    func fault(of source: ProductSource) -> ProductFault? {
        // What cannot be read says nothing of the products that are kept.
        guard let bytes = try? DurableFile.read(faultPath(of: source)),
            let json = try? JSONValue(parsing: bytes)
        else { return nil }
        // A fault that is not ours to read is none.
        return try? ProductFault.fields.read(json)
    }

    /// Notes that a load failed, beside what is kept.
    ///
    /// - Throws: `FileFault`, `CocoaError`, `LogStorageFault.busy`.
    func note(_ fault: ProductFault, of source: ProductSource) throws {
        let bytes = AnswerText(fault).bytes + [UInt8(ascii: "\n")]
        try alone(with: source) { try DurableFile.replace(faultPath(of: source), with: bytes) }
    }

    /// Changes a source's files alone: a server and a command may load at once.
    private func alone(with source: ProductSource, _ change: () throws -> Void) throws {
        try DurableFile.makeFolder(folder)
        let place = folder + "/" + source.rawValue + ".lock"
        guard let lock = try DurableFile.whenFree({ try DurableFile.lock(place) }) else {
            throw LogStorageFault(.busy, "somebody else keeps the same products")
        }
        defer { Glibc.close(lock) }
        try change()
    }

    /// Which content the files of a source have: products and fault.
    ///
    /// - Throws: `FileFault`.
    func versions(of source: ProductSource) throws -> [FileVersion?] {
        try [path(of: source), faultPath(of: source)].map { try DurableFile.version(of: $0) }
    }

    private func path(of source: ProductSource) -> String {
        folder + "/" + source.rawValue + ".json"
    }

    private func faultPath(of source: ProductSource) -> String {
        folder + "/" + source.rawValue + ".fault.json"
    }

    private static func digest(of text: AnswerText) -> String {
        var digest = FileDigest()
        digest.add(text.bytes)
        return digest.file("").digest.hex
    }
}
