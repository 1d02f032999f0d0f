import ArgumentParser
import Encodings
import Entitlements
import Foundation
import LedgerServer
import Stores

/// Whose signals a command takes.
struct StoresOptions: ParsableArguments {
    @Option(help: "Which stores are trusted (default: DIR/stores.json, if it is there).")
    var stores: String?

    /// What is configured; nil: nothing.
    ///
    /// `stores.json` of the ledger's directory may be absent; a file that is named may not.
    func configuration(at ledgerPath: String) throws -> StoresConfiguration? {
        let named = stores ?? Settings.current.serve.stores
        let place = named ?? ledgerPath + "/stores.json"
        if named == nil && !FileManager.default.fileExists(atPath: place) { return nil }
        let bytes = try ConfigurationFile.read(place, ledger: ledgerPath)
        // Files that it names stand beside it.
        let folder = URL(filePath: place).deletingLastPathComponent()
        do {
            return try StoresConfiguration(parsing: bytes) { name in
                let file = URL(filePath: name, relativeTo: folder).path
                return try ConfigurationFile.read(file, ledger: ledgerPath)
            }
        } catch let fault as InputFault {
            throw CommandFailure(
                .misconfigured,
                "configuration",
                fault.detail,
                place: place + (fault.path.isEmpty ? "" : ": \(fault.path)")
            )
        }
    }

    /// The verifier of the App Store; nil: it is not configured.
    func appStore(_ options: LedgerOptions) throws -> AppStoreVerifier? {
        try configuration(at: options.path).flatMap(Self.verifier)
    }

    static func verifier(_ configuration: StoresConfiguration) throws -> AppStoreVerifier? {
        guard var appStore = configuration.appStore else { return nil }
        if configuration.checksRevocation {
            appStore.revocation = AppStoreRevocationCheck(transport: RevocationTransport.ask)
        }
        do {
            return try AppStoreVerifier(appStore)
        } catch {
            throw CommandFailure(
                .misconfigured,
                "configuration",
                "a root of the App Store is not a certificate",
                place: "appStore.roots"
            )
        }
    }
}
