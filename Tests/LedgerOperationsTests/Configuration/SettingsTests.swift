import Configuration
import Foundation
import LedgerAPI
import LedgerOperations
import Testing

struct `The settings` {
    private static func file(_ text: String) throws -> SettingsFile {
        try SettingsFile(Array(text.utf8), path: "entitle.json")
    }

    private static func settings(_ setting: Setting, _ text: String) throws -> Settings {
        try Settings(file: nil) { $0 == setting ? text : nil }
    }

    @Test func `count a flag before a variable, a variable before the file`() throws {
        let file = try Self.file(#"{"host":"::1","port":8792,"ledger":"/srv","limits":""}"#)
        var settings = try Settings(file: file) { setting in
            setting == .host || setting == .ledger ? "variable" : nil
        }
        settings.set(.ledger, byFlag: "flag")
        settings.set(.host, byFlag: nil)
        #expect(settings[.ledger] == "flag" && settings[.host] == "variable")
        #expect(settings[.port] == "8792" && settings[.limits] == "" && settings[.publish] == nil)
        let answer = settings.answer
        func origin(_ setting: Setting) -> ConfigurationAnswer.Origin? {
            answer.settings.first { $0.name == setting.rawValue }?.origin
        }
        #expect(answer.file == "entitle.json" && answer.settings.count == Setting.allCases.count)
        #expect(answer.settings.map(\.name) == Setting.allCases.map(\.rawValue).sorted())
        #expect(origin(.ledger) == .flag && origin(.host) == .variable)
        #expect(origin(.port) == .file && origin(.publish) == .default)
    }

    @Test func `are left to their defaults, whatever set them`() throws {
        var settings = try Settings(file: Self.file(#"{"archive":"a","port":1}"#)) { setting in
            setting == .publish ? "p" : nil
        }
        settings.set(.stores, byFlag: "s")
        settings.clear([.archive, .publish, .stores])
        for setting in [Setting.archive, .publish, .stores] { #expect(settings[setting] == nil) }
        #expect(settings[.port] == "1" && !settings.isOfFile(.archive))
    }

    @Test func `have the names of their variables`() throws {
        let variables = EnvironmentVariablesProvider(environmentVariables: [
            "ENTITLE_BODY_BYTES": "1", "ENTITLE_TLS_CERTIFICATE_FILE": "chain", "HOST": "other",
            "ENTITLE_KEY": "ab", "ENTITLE_PUBLIC_LOG": "true",
        ])
        let settings = try Settings.load(variables)
        #expect(settings[.bodyBytes] == "1" && settings[.tlsCertificateFile] == "chain")
        #expect(settings[.host] == nil && settings[.key] == "ab")
        #expect(try settings.flag(.publicLog) == true)
        let named = Dictionary(
            uniqueKeysWithValues: settings.answer.settings.map { ($0.variable, $0.name) }
        )
        #expect(named["ENTITLE_BODY_BYTES"] == "bodyBytes")
        #expect(named["ENTITLE_TLS_CERTIFICATE_FILE"] == "tlsCertificateFile")
    }

    @Test func `stand in the file that a variable names`() throws {
        try withTemporaryFolder { folder in
            let path = folder + "/right.json"
            try Data(#"{"environment":"sandbox"}"#.utf8).write(to: URL(filePath: path))
            func load(_ path: String) throws -> Settings {
                try Settings.load(
                    EnvironmentVariablesProvider(environmentVariables: ["ENTITLE_CONFIG": path])
                )
            }
            #expect(try load(path)[.environment] == "sandbox")
            let absent = #expect(throws: OperationFault.self) { _ = try load(folder + "/no.json") }
            #expect(absent?.code == .configuration && absent?.place == folder + "/no.json")
        }
    }

    // A file is what somebody else may have put there, or may read.
    @Test(arguments: [Setting.key, .keyCommand])
    func `take no secret from a file, and show none`(_ setting: Setting) throws {
        let fault = try #require(throws: OperationFault.self) {
            _ = try Settings(file: Self.file(#"{"\#(setting.rawValue)":"abab"}"#)) { _ in nil }
        }
        #expect(fault.message == "there is no such setting")
        let answer = try Self.settings(setting, "abab").answer
        let shown = answer.settings.first { $0.name == setting.rawValue }
        #expect(shown?.value == nil && shown?.origin == .variable)
    }

    @Test func `that a file misspells are refused with a near name`() throws {
        let fault = try #require(throws: OperationFault.self) {
            _ = try Settings(file: Self.file(#"{"enviroment":"sandbox"}"#)) { _ in nil }
        }
        #expect(fault.code == .configuration && fault.hint == "did you mean environment?")
    }

    @Test(arguments: ["", "x", "-1", "65536", "8 0", "99999999999999999999"])
    func `refuse what is no number of the range`(_ text: String) throws {
        let settings = try Self.settings(.port, text)
        let fault = try #require(throws: OperationFault.self) {
            try settings.number(.port, in: 0...65_535)
        }
        #expect(fault.code == .configuration && fault.place == text)
        #expect(fault.message == "port is not a number in 0...65535")
        #expect(try Self.settings(.port, "65535").number(.port, in: 0...65_535) == 65_535)
    }

    @Test func `say how often by seconds, and never by none`() throws {
        func interval(_ text: String) throws -> Duration? {
            try Self.settings(.driftSeconds, text).interval(.driftSeconds, standard: .seconds(7))
        }
        #expect(try interval("60") == .seconds(60) && interval("0") == nil)
        #expect(try Settings().interval(.driftSeconds, standard: .seconds(7)) == .seconds(7))
        #expect(throws: OperationFault.self) { try interval("31536001") }
    }

    @Test(arguments: ["yes", "1", "TRUE", ""])
    func `take true and false alone for a flag`(_ text: String) throws {
        #expect(throws: OperationFault.self) {
            try Self.settings(.publicLog, text).flag(.publicLog)
        }
        #expect(try Self.settings(.publicLog, "false").flag(.publicLog) == false)
        #expect(try Settings().flag(.publicLog) == nil)
    }

    @Test func `say how much memory a ledger is opened with`() throws {
        let settings = try Settings(file: nil) { setting in
            switch setting {
            case .mapBytes: "\((1 << 30) + 7)"
            case .accessCacheBytes: "0"
            default: nil
            }
        }
        let options = try settings.opening(.own, isReadOnly: true)
        #expect(options.mapSize == 1 << 30 && options.accessCacheByteLimit == 0)
        #expect(options.isReadOnly)
        for setting in [Setting.mapBytes, .accessCacheBytes] {
            for text in ["x", "-1", "99999999999999999999", "\(1 << 50)"] {
                let fault = #expect(throws: OperationFault.self) {
                    _ = try Self.settings(setting, text).opening(.own)
                }
                #expect(fault?.code == .configuration && fault?.place == setting.variable)
            }
        }
    }
}
