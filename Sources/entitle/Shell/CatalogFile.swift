import Encodings
import EntitlementLedger
import Entitlements
import Foundation
import LedgerOperations

/// Reads catalog files and publishes them.
enum CatalogFile {
    /// Reads a document and resolves its named time zones (K10).
    ///
    /// - Throws: `CommandFailure` that lists every fault.
    static func read(_ file: String) throws -> JSONValue {
        let bytes: [UInt8]
        do {
            bytes =
                file == "-"
                ? Array(FileHandle.standardInput.readDataToEndOfFile())
                : Array(try Data(contentsOf: URL(filePath: file)))
        } catch {
            throw CommandFailure(.noInput, "no_input", "the catalog cannot be read", place: file)
        }
        do {
            return TimeZones.resolved(try JSONValue(parsing: bytes))
        } catch {
            throw CommandFailure(
                .badInput,
                "malformed",
                "not JSON: \(error.message)",
                place: "\(file), byte \(error.offset)"
            )
        }
    }

    /// Every fault of a document; empty: it is valid.
    static func faults(_ document: JSONValue) -> [InputFault] {
        do {
            _ = try Catalog(document: document)
            return []
        } catch {
            return error.faults
        }
    }

    /// What is legal and odd about a document; of one with faults, misspelt members alone.
    static func doubts(_ document: JSONValue) -> [CatalogDoubt] {
        Catalog.misspeltMembers(in: document) + ((try? Catalog(document: document))?.doubts ?? [])
    }

    /// The catalog of a document.
    ///
    /// - Throws: `CommandFailure` that lists every fault.
    static func validated(_ document: JSONValue) throws -> Catalog {
        do {
            return try Catalog(document: document)
        } catch {
            throw CommandFailure(error.faults)
        }
    }

    @discardableResult
    static func publish(
        _ document: JSONValue,
        effective: Instant?,
        id: String?,
        _ ledger: Ledger
    ) throws -> Receipt {
        let faults = faults(document)
        guard faults.isEmpty else { throw CommandFailure(faults) }
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

extension CommandFailure {
    init(_ faults: [InputFault]) {
        self.init(
            .badInput,
            "invalid_catalog",
            faults.map { "\($0.path): \($0.detail) [\($0.code.rawValue)]" }
                .joined(separator: "\n       "),
            hint: "`entitle catalog validate FILE` lists the faults"
        )
    }
}
