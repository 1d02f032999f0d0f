package import Configuration
import Encodings
package import Entitlements
import Foundation
import LMDBStorage
package import LedgerAPI

/// What is set, and by what: a flag counts before a variable, a variable before the file.
package struct Settings: Sendable {
    private struct Value: Sendable {
        var text: String
        var origin: ConfigurationAnswer.Origin
    }

    private var values: [Setting: Value] = [:]
    /// The configuration file; nil: there is none.
    private let file: String?

    /// What is looked for where no other file is named.
    private static let standardFile = "entitle.json"
    /// Variables that are no settings: the configuration file's own.
    static let otherVariables = [Setting.variablePrefix + "CONFIG"]
    private static let pageBytes = 1 << 16
    private static let mostBytes = 1 << 46
    private static let mostSeconds = 31_536_000

    /// Nothing is set.
    package init() { file = nil }

    /// Takes what the file sets, and variables before it.
    ///
    /// `variable`: what the variable of a setting says; nil: it is not set.
    ///
    /// - Throws: `OperationFault` for a member of the file that sets nothing.
    package init(file: SettingsFile?, variable: (Setting) -> String?) throws {
        self.file = file?.path
        for setting in Setting.allCases {
            if let text = variable(setting) {
                values[setting] = Value(text: text, origin: .variable)
            } else if !setting.isSecret, let text = file?[setting.rawValue] {
                values[setting] = Value(text: text, origin: .file)
            }
        }
        try file?.requireKnown(Setting.allCases.filter { !$0.isSecret }.map(\.rawValue))
    }

    /// Reads the variables and the file that `ENTITLE_CONFIG` names (default `./entitle.json`,
    /// which may be absent).
    ///
    /// - Throws: `OperationFault` for a file that is not believed, or not in order.
    package static func load(
        _ variables: some ConfigProvider = EnvironmentVariablesProvider()
    ) throws -> Settings {
        let reader = ConfigReader(provider: variables).scoped(to: "entitle")
        let isThere = FileManager.default.fileExists(atPath: standardFile)
        let path = reader.string(forKey: "config") ?? (isThere ? standardFile : nil)
        return try Settings(file: path.map { try SettingsFile(path: $0) }) { setting in
            reader.string(forKey: ConfigKey(setting.rawValue), isSecret: setting.isSecret)
        }
    }

    /// Takes what a flag says; nil: the flag was not given.
    package mutating func set(_ setting: Setting, byFlag text: String?) {
        if let text { values[setting] = Value(text: text, origin: .flag) }
    }

    /// Leaves settings to their defaults, whatever sets them.
    package mutating func clear(_ settings: [Setting]) {
        for setting in settings { values[setting] = nil }
    }

    /// What a setting says as text; nil: its default holds.
    package subscript(setting: Setting) -> String? { values[setting]?.text }

    /// Whether what a setting says stands in the configuration file.
    package func isOfFile(_ setting: Setting) -> Bool { values[setting]?.origin == .file }

    /// A number; nil: the default holds.
    ///
    /// - Throws: `OperationFault` for what is no number of the range.
    package func number(_ setting: Setting, in range: ClosedRange<Int>) throws -> Int? {
        guard let text = self[setting] else { return nil }
        guard let number = Int(text), range.contains(number) else {
            let message = "\(setting.rawValue) is not a number in \(range)"
            throw OperationFault(.configuration, message, place: text)
        }
        return number
    }

    /// Seconds between two runs of a job, at most a year of them; nil where 0 says that it never
    /// runs.
    ///
    /// - Throws: `OperationFault` for what is no such number.
    package func interval(_ setting: Setting, standard: Duration?) throws -> Duration? {
        guard let seconds = try number(setting, in: 0...Self.mostSeconds) else { return standard }
        return seconds > 0 ? .seconds(seconds) : nil
    }

    /// True or false; nil: the default holds.
    ///
    /// - Throws: `OperationFault` for another word.
    package func flag(_ setting: Setting) throws -> Bool? {
        guard let text = self[setting] else { return nil }
        guard let flag = Bool(text) else {
            let message = "\(setting.rawValue) is true or false"
            throw OperationFault(.configuration, message, place: text)
        }
        return flag
    }

    /// What stages of purchase flows may take before that is an alert (row 10.4).
    ///
    /// - Throws: `OperationFault` for what are no thresholds.
    package func stageThresholds() throws -> StageReport.Thresholds {
        guard let text = self[.stageThresholds] else { return StageReport.Thresholds() }
        guard let thresholds = StageReport.Thresholds(text) else {
            throw OperationFault(
                .configuration,
                "stageThresholds are MILLISECONDS and STAGE:MILLISECONDS, with commas",
                place: text
            )
        }
        return thresholds
    }

    /// What a ledger's directory is opened with: the key, and the sizes that are set.
    ///
    /// - Throws: `OperationFault` for a size that is none.
    package func opening(
        _ key: MasterKeySource,
        isReadOnly: Bool = false
    ) throws
        -> OpenLedger.Options
    {
        var options = OpenLedger.Options(key: key, isReadOnly: isReadOnly)
        options.mapSize = try mapSize()
        options.accessCacheByteLimit = try accessCacheSize() ?? options.accessCacheByteLimit
        return options
    }

    /// The size of a map in bytes, in whole pages.
    ///
    /// - Throws: `OperationFault` for one that is none.
    package func mapSize() throws -> Int {
        guard let text = self[.mapBytes] else { return MapSize.usual }
        guard let size = Int(text), (MapSize.least...Self.mostBytes).contains(size) else {
            throw OperationFault(
                .configuration,
                "the size of the maps is not a number of bytes from \(MapSize.least) on",
                place: Setting.mapBytes.variable
            )
        }
        // Fits: at most the size.
        return size / Self.pageBytes * Self.pageBytes
    }

    /// Bytes for what customers may use now; nil: the usual.
    private func accessCacheSize() throws -> Int? {
        guard let text = self[.accessCacheBytes] else { return nil }
        guard let size = Int(text), (0...Self.mostBytes).contains(size) else {
            throw OperationFault(
                .configuration,
                "the size of the cache is not a number of bytes",
                place: Setting.accessCacheBytes.variable
            )
        }
        return size
    }

    /// Every setting with its value and where it comes from; secrets without theirs.
    package var answer: ConfigurationAnswer {
        let settings = Setting.allCases.map { setting in
            ConfigurationAnswer.Setting(
                name: setting.rawValue,
                variable: setting.variable,
                value: setting.isSecret ? nil : self[setting],
                origin: values[setting]?.origin ?? .default
            )
        }
        return ConfigurationAnswer(
            file: file,
            settings: settings.sorted { $0.name.precedes($1.name) }
        )
    }
}
