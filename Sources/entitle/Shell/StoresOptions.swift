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

    /// Nobody waits for an answer of a store, so that it is waited for long.
    static var patience: StoreCaller.Policy {
        var policy = StoreCaller.Policy()
        policy.attempts = 8
        policy.deadline = 600_000
        return policy
    }

    /// The stores that may be asked; each with `patience`.
    ///
    /// - Throws: `OperationFault` where there is none.
    func clients(_ options: LedgerOptions) throws -> StoreClients {
        let clients = try configuredClients(options)
        if clients.isEmpty { throw Self.notConfigured(options) }
        return clients
    }

    /// The stores that may be asked what they sell.
    ///
    /// - Throws: `OperationFault` where there is none.
    func productClients(_ options: LedgerOptions) throws -> StoreClients {
        let clients = try configuredClients(options)
        guard !clients.tellingProducts.isEmpty else {
            throw Self.notConfigured(options, keys: "appStore.connectKeyFile")
        }
        return clients
    }

    /// The stores that may be asked, or none.
    func configuredClients(_ options: LedgerOptions) throws -> StoreClients {
        guard let configuration = try configuration(at: options.path) else { return StoreClients() }
        return StoreClients(
            configuration,
            verifier: try StoresFile.appStoreVerifier(configuration),
            policy: Self.patience,
            clock: SystemClock.now
        )
    }

    /// No store can be asked what is to be asked; `keys`: what of the App Store is to be set.
    static func notConfigured(
        _ options: LedgerOptions,
        keys: String = "appStore.privateKeyFile"
    ) -> OperationFault {
        OperationFault(
            .notConfigured,
            "no store's API is configured for it",
            place: options.path + "/stores.json",
            hint: "name its key there (\(keys), playStore.serviceAccountFile, "
                + "revenueCat.apiKeyFile), or give --stores FILE"
        )
    }
}
