package import Encodings
package import EntitlementLedger
package import Entitlements
import Foundation

/// Reads catalog files and publishes them.
package enum CatalogFile {
    /// Reads a document and resolves its named time zones (K10).
    ///
    /// - Throws: `OperationFault` that lists every fault.
    package static func read(_ file: String) throws -> JSONValue {
        let bytes: [UInt8]
        do {
            bytes =
                file == "-"
                ? Array(try FileHandle.standardInput.readToEnd() ?? Data())
                : Array(try Data(contentsOf: URL(filePath: file)))
        } catch {
            throw OperationFault(reading: file, error, as: .noInput, "the catalog cannot be read")
        }
        do {
            return TimeZones.resolved(try JSONValue(parsing: bytes))
        } catch {
            throw OperationFault(
                .malformed,
                "not JSON: \(error.message)",
                place: "\(file), byte \(error.offset)"
            )
        }
    }

    /// Every fault of a document; empty: it is valid.
    package static func faults(_ document: JSONValue) -> [InputFault] {
        do {
            _ = try Catalog(document: document)
            return []
        } catch {
            return error.all
        }
    }

    /// What is legal and odd about a document; of one with faults, misspelt members alone.
    package static func doubts(_ document: JSONValue) -> [CatalogDoubt] {
        // The faults of a document are told by its reader.
        Catalog.misspeltMembers(in: document) + ((try? Catalog(document: document))?.doubts ?? [])
    }

    /// The catalog of a document.
    ///
    /// - Throws: `OperationFault` that lists every fault.
    package static func validated(_ document: JSONValue) throws -> Catalog {
        do {
            return try Catalog(document: document)
        } catch {
            throw OperationFault(catalog: error.all)
        }
    }

    /// Publishes a document.
    ///
    /// - Throws: `OperationFault` that lists every fault; what appending throws.
    @discardableResult
    package static func publish(
        _ document: JSONValue,
        effective: Instant?,
        id: String?,
        _ ledger: Ledger
    ) throws -> Receipt {
        let faults = faults(document)
        guard faults.isEmpty else { throw OperationFault(catalog: faults) }
        return try ledger.appender.publish(
            document,
            effective: effective,
            Request(
                id: id ?? UUID().uuidString.lowercased(),
                source: Source.catalog,
                environment: .production
            )
        )
    }
}
