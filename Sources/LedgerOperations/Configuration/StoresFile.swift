import Entitlements
import Foundation
package import Stores

/// The file that says which stores are trusted: `stores.json` in a ledger's directory, or another.
package enum StoresFile {
    /// What was read of it.
    package struct Contents: Sendable {
        /// What is configured.
        package var configuration: StoresConfiguration
        /// Its bytes, and those of each file that it names in the order in which it does.
        package var bytes: [[UInt8]]
    }

    /// Reads it, and what it names beside it.
    ///
    /// `file`: one that must be there; nil: that of the ledger, which may be absent.
    ///
    /// - Returns: what is configured; nil: nothing.
    /// - Throws: `OperationFault` for one that others can change, or that is not in order.
    package static func read(
        _ file: String?,
        ofLedgerAt ledgerPath: String
    ) throws -> StoresConfiguration? {
        try contents(file, ofLedgerAt: ledgerPath)?.configuration
    }

    /// The same, with the bytes that it was made of: where they are the same, nothing was changed.
    package static func contents(
        _ file: String?,
        ofLedgerAt ledgerPath: String
    ) throws -> Contents? {
        let place = file ?? ledgerPath + "/stores.json"
        if file == nil && !FileManager.default.fileExists(atPath: place) { return nil }
        var read = [try ConfigurationFile.read(place, ledger: ledgerPath)]
        // Files that it names stand beside it.
        let folder = URL(filePath: place).deletingLastPathComponent()
        do {
            let configuration = try StoresConfiguration(parsing: read[0]) { name in
                let file = URL(filePath: name, relativeTo: folder).path
                let bytes = try ConfigurationFile.read(file, ledger: ledgerPath)
                read.append(bytes)
                return bytes
            }
            return Contents(configuration: configuration, bytes: read)
        } catch let fault as InputFault {
            throw OperationFault(
                .configuration,
                fault.detail,
                place: place + (fault.path.isEmpty ? "" : ": \(fault.path)")
            )
        }
    }

    /// The verifier of the App Store; nil: it is not configured.
    ///
    /// `revocation`: asks whether a certificate was revoked, where that is configured.
    ///
    /// - Throws: `OperationFault` for a root that is no certificate.
    package static func appStoreVerifier(
        _ configuration: StoresConfiguration,
        revocation: @autoclosure () -> AppStoreRevocationCheck
    ) throws -> AppStoreVerifier? {
        guard var appStore = configuration.appStore else { return nil }
        if configuration.checksRevocation { appStore.revocation = revocation() }
        do {
            return try AppStoreVerifier(appStore)
        } catch {
            throw OperationFault(
                .configuration,
                "a root of the App Store is not a certificate",
                place: "appStore.roots"
            )
        }
    }
}
