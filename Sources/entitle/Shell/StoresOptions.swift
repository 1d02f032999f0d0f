import ArgumentParser
import LedgerOperations
import LedgerServer
import Stores

/// Whose signals a command takes.
struct StoresOptions: ParsableArguments {
    @Option(help: "Which stores are trusted (default: DIR/stores.json, if it is there).")
    var stores: String?

    /// What is configured; nil: nothing.
    func configuration(at ledgerPath: String) throws -> StoresConfiguration? {
        try StoresFile.read(stores ?? Invocation.current.settings[.stores], ofLedgerAt: ledgerPath)
    }

    /// Judges kept evidence by what is configured.
    func evidenceVerifier(_ options: LedgerOptions) throws -> StoredEvidenceVerifier {
        guard let configuration = try configuration(at: options.path) else {
            return StoredEvidenceVerifier(appStore: nil)
        }
        return StoredEvidenceVerifier(
            appStore: try StoresFile.appStoreVerifier(configuration),
            playStore: configuration.playStore
        )
    }

    /// The verifier of the App Store; nil: it is not configured.
    func appStore(_ options: LedgerOptions) throws -> AppStoreVerifier? {
        try configuration(at: options.path).flatMap { try StoresFile.appStoreVerifier($0) }
    }
}
