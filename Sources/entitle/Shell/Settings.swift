import Configuration
import Foundation
import Synchronization
import SystemPackage

/// What flags do not say: `ENTITLE_*`, then a configuration file, then defaults.
struct Settings {
    /// `ENTITLE_LEDGER`.
    var ledger: String?
    /// `ENTITLE_ENVIRONMENT`.
    var environment: String?
    /// `ENTITLE_KEY_FILE`: a file with the master key.
    var keyFile: String?
    /// `ENTITLE_KEY`: the master key itself, for services whose secrets are variables.
    var key: String?
    /// What `entitle serve` goes by.
    var serve = ServeSettings()
    /// The ledger that the command in hand works on, for messages.
    var ledgerPath: String?

    private static let shared = Mutex(Settings())

    /// What the command in hand goes by.
    static var current: Settings {
        get { shared.withLock { $0 } }
        set { shared.withLock { $0 = newValue } }
    }

    /// Reads the variables and the file that `ENTITLE_CONFIG` names (default `./entitle.json`,
    /// which may be absent): `{"ledger":…,"environment":…,"keyFile":…}` and the members of
    /// `ServeSettings`.
    static func load() async throws -> Settings {
        let variables = ConfigReader(provider: EnvironmentVariablesProvider())
            .scoped(to: "entitle")
        let path = variables.string(forKey: "config")
        let file: ConfigReader
        do {
            file = ConfigReader(
                provider: try await FileProvider<JSONSnapshot>(
                    filePath: FilePath(path ?? "entitle.json"),
                    allowMissing: path == nil
                )
            )
        } catch {
            throw CommandFailure(
                .misconfigured,
                "configuration",
                "the configuration file cannot be read",
                place: path ?? "entitle.json",
                hint: "it must be one JSON object"
            )
        }
        func value(_ key: ConfigKey) -> String? {
            variables.string(forKey: key) ?? file.string(forKey: key)
        }
        var settings = Settings()
        settings.ledger = value("ledger")
        settings.environment = value("environment")
        settings.keyFile = value("keyFile")
        settings.serve = ServeSettings(value)
        settings.key = variables.string(forKey: "key", isSecret: true)
        return settings
    }
}
