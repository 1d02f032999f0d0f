import Configuration
import Encodings
import Foundation
import LMDBStorage
import LedgerAPI
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
    /// What was read, and from where.
    private(set) var answer = ConfigurationAnswer(file: nil, settings: [])

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
        var settings = Settings()
        settings.answer.file = file?.path
        func note(_ name: String, _ value: String?, _ origin: ConfigurationAnswer.Origin) {
            settings.answer.settings.append(
                ConfigurationAnswer.Setting(
                    name: name,
                    variable: variable(name),
                    value: value,
                    origin: origin
                )
            )
        }
        func value(_ name: String) -> String? {
            names.append(name)
            let set = variables.string(forKey: ConfigKey(name))
            let value = set ?? file?[name]
            note(name, value, set != nil ? .variable : value != nil ? .file : .default)
            return value
        }
        func secret(_ name: String) -> String? {
            let value = variables.string(forKey: ConfigKey(name), isSecret: true)
            note(name, nil, value != nil ? .variable : .default)
            return value
        }
        settings.ledger = value("ledger")
        settings.environment = value("environment")
        settings.keyFile = value("keyFile")
        settings.mapBytes = value("mapBytes")
        settings.accessCacheBytes = value("accessCacheBytes")
        settings.serve = ServeSettings(value)
        try file?.requireKnown(names)
        settings.key = secret("key")
        settings.keyCommand = secret("keyCommand")
        settings.answer.settings.sort { $0.name.precedes($1.name) }
        return settings
    }

    /// The variable of a setting: `bodyBytes` is `ENTITLE_BODY_BYTES`.
    private static func variable(_ name: String) -> String {
        "ENTITLE_" + name.map { $0.isUppercase ? "_\($0)" : $0.uppercased() }.joined()
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
