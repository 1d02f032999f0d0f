import Configuration
import Foundation
import Synchronization
import SystemPackage

/// What flags do not say: `ENTITLE_*`, then a configuration file, then defaults.
struct Settings {
    /// `ENTITLE_LEDGER`, `entitle.ledger`.
    var ledger: String?
    /// `ENTITLE_ENVIRONMENT`.
    var environment: String?
    /// `ENTITLE_KEY_FILE`: a file with the master key.
    var keyFile: String?
    /// `ENTITLE_KEY`: the master key itself, for services whose secrets are variables.
    var key: String?
    /// The ledger that the command in hand works on, for messages.
    var ledgerPath: String?

    private static let shared = Mutex(Settings())

    /// What the command in hand goes by.
    static var current: Settings {
        get { shared.withLock { $0 } }
        set { shared.withLock { $0 = newValue } }
    }

    /// Reads `ENTITLE_CONFIG` (default `./entitle.json`, which may be absent).
    static func load() async throws -> Settings {
        let environment = EnvironmentVariablesProvider()
        let reader = ConfigReader(provider: environment)
        let file = reader.string(forKey: "entitle.config")
        var providers: [any ConfigProvider] = [environment]
        do {
            providers.append(
                try await FileProvider<JSONSnapshot>(
                    filePath: FilePath(file ?? "entitle.json"),
                    allowMissing: file == nil
                )
            )
        } catch {
            throw CommandFailure(
                .misconfigured,
                "configuration",
                "the configuration file cannot be read",
                place: file ?? "entitle.json",
                hint: "it must be one JSON object"
            )
        }
        let all = ConfigReader(providers: providers).scoped(to: "entitle")
        var settings = Settings()
        settings.ledger = all.string(forKey: "ledger")
        settings.environment = all.string(forKey: "environment")
        settings.keyFile = all.string(forKey: "key.file")
        settings.key = all.string(forKey: "key", isSecret: true)
        return settings
    }
}
