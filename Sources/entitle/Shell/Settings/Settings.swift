import Configuration
import Encodings
import Foundation
import LMDBStorage
import LedgerOperations
import Synchronization

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
    /// `ENTITLE_KEY_COMMAND`: a command that prints the master key; never from a file, which
    /// somebody else may have put there.
    var keyCommand: String?
    /// The key that the process which started this one has, and handed over.
    var passedKey: String?
    /// What `--key-fd` gave: it can be read once.
    var descriptorKey: String?
    /// `ENTITLE_MAP_BYTES`: address space that log and vault begin with, for systems that limit it.
    var mapBytes: String?
    /// `ENTITLE_ACCESS_CACHE_BYTES`: memory for what customers may use now (512 MiB).
    var accessCacheBytes: String?
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

    /// The size of a map in bytes, in whole pages.
    ///
    /// - Throws: `CommandFailure` for one that is none.
    func checkedMapSize() throws -> Int {
        guard let mapBytes else { return MapSize.usual }
        guard let size = Int(mapBytes), size >= MapSize.least, size <= Self.mostMapBytes else {
            throw CommandFailure(
                .misconfigured,
                "configuration",
                "the size of the maps is not a number of bytes from \(MapSize.least) on",
                place: "ENTITLE_MAP_BYTES"
            )
        }
        // Fits: at most the size.
        return size / Self.pageBytes * Self.pageBytes
    }

    /// Bytes for what customers may use now; nil: the usual.
    ///
    /// - Throws: `CommandFailure` for what is no such number.
    func checkedAccessCacheSize() throws -> Int? {
        guard let accessCacheBytes else { return nil }
        guard let size = Int(accessCacheBytes), (0...Self.mostMapBytes).contains(size) else {
            throw CommandFailure(
                .misconfigured,
                "configuration",
                "the size of the cache is not a number of bytes",
                place: "ENTITLE_ACCESS_CACHE_BYTES"
            )
        }
        return size
    }

    private static let pageBytes = 1 << 16
    private static let mostMapBytes = 1 << 46

    /// Reads the variables and the file that `ENTITLE_CONFIG` names (default `./entitle.json`,
    /// which may be absent): `{"ledger":…,"environment":…,"keyFile":…}` and the members of
    /// `ServeSettings`.
    static func load() throws -> Settings {
        let variables = ConfigReader(provider: EnvironmentVariablesProvider())
            .scoped(to: "entitle")
        let file = try file(variables.string(forKey: "config"))
        var names: [String] = []
        func value(_ name: String) -> String? {
            names.append(name)
            return variables.string(forKey: ConfigKey(name)) ?? file?[name]
        }
        var settings = Settings()
        settings.ledger = value("ledger")
        settings.environment = value("environment")
        settings.keyFile = value("keyFile")
        settings.mapBytes = value("mapBytes")
        settings.accessCacheBytes = value("accessCacheBytes")
        settings.serve = ServeSettings(value)
        try file?.requireKnown(names)
        settings.key = variables.string(forKey: "key", isSecret: true)
        settings.keyCommand = variables.string(forKey: "keyCommand")
        return settings
    }

    /// What is looked for where no other file is named.
    private static let standardFile = "entitle.json"

    /// The configuration file; nil: there is none, and none was named.
    private static func file(_ named: String?) throws -> SettingsFile? {
        guard let path = named ?? (isThere(standardFile) ? standardFile : nil) else { return nil }
        return try SettingsFile(path: path)
    }

    private static func isThere(_ path: String) -> Bool {
        FileManager.default.fileExists(atPath: path)
    }
}
