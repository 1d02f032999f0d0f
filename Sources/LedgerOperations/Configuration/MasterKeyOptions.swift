import Foundation
import LMDBStorage

/// What a command was told of a ledger's master key: by flags, then by settings; where nothing was
/// told, the ledger keeps its key itself.
package struct MasterKeyOptions: Sendable {
    /// `--key-file`.
    package var file: String?
    /// `--key-fd`.
    package var descriptor: KeyDescriptor?
    /// `--key-command`.
    package var command: String?
    /// The key that the process which started this one has, and handed over.
    package var passed: String?
    private let ledger: String
    private let settings: Settings

    /// `ledger`: the directory that keeps its own key where none is named.
    package init(ofLedgerAt ledger: String, _ settings: Settings) {
        self.ledger = ledger
        self.settings = settings
    }

    /// Whether the ledger keeps its key itself.
    package var isOwn: Bool {
        file == nil && descriptor == nil && command == nil && settings[.keyFile] == nil
            && settings[.key] == nil && settings[.keyCommand] == nil
    }

    /// The file that it stands in; nil: it comes from elsewhere.
    package var place: String? {
        if isOwn { return ledger + "/" + LedgerDirectory.keyName }
        guard passed == nil, descriptor == nil, command == nil else { return nil }
        return file ?? (settings[.key] == nil ? settingsFile : nil)
    }

    /// The file that settings name; nil: none, or the configuration file's, before which the command of a
    /// variable counts.
    private var settingsFile: String? {
        settings.isOfFile(.keyFile) && settings[.keyCommand] != nil ? nil : settings[.keyFile]
    }

    /// Reads the key: a flag's, then `ENTITLE_KEY`, `ENTITLE_KEY_FILE`, `ENTITLE_KEY_COMMAND`, then
    /// the configuration file's `keyFile`, then the ledger's own.
    ///
    /// `needsLedger`: whether a directory that is not there is named before its key.
    ///
    /// - Throws: `OperationFault`, `LedgerOpenFault`.
    package func read(needsLedger: Bool = true) throws -> [UInt8] {
        if let passed { return try MasterKey.parse(passed, place: "standard input") }
        let flags: [Any?] = [file, descriptor, command]
        guard flags.compactMap(\.self).count <= 1 else {
            throw OperationFault(
                .usage,
                "the master key is given twice",
                hint: "one of --key-file, --key-fd and --key-command"
            )
        }
        if let descriptor { return try descriptor.read() }
        if let command { return try KeyCommand.run(command) }
        if file == nil {
            if let key = settings[.key] {
                return try MasterKey.parse(key, place: Setting.key.variable)
            }
            if settingsFile == nil, let command = settings[.keyCommand] {
                return try KeyCommand.run(command)
            }
        }
        if needsLedger { _ = try LedgerDirectory.manifest(at: ledger) }
        guard let file = file ?? settingsFile else {
            // The ledger's own proves itself: no other opens the vault.
            return try MasterKey.read(ledger + "/" + LedgerDirectory.keyName)
        }
        return try MasterKey.read(named: file, ledger: ledger)
    }

    /// The key as its source gives it by now: a running server asks again where the one that it has
    /// does not open the vault any more.
    ///
    /// - Throws: as `read`.
    package func renewed() throws -> [UInt8] {
        let next = ledger + "/" + LedgerDirectory.nextKeyName
        return isOwn && FileManager.default.fileExists(atPath: next)
            ? try MasterKey.read(next) : try read()
    }

    /// The key for a ledger that is being made: what is given, else its own if that stands there
    /// already, else that of the ledger at hand.
    ///
    /// - Throws: as `read`.
    package func read(orAt path: String) throws -> [UInt8] {
        var options = self
        let own = path + "/" + LedgerDirectory.keyName
        if isOwn, FileManager.default.fileExists(atPath: own) { options.file = own }
        return try options.read(needsLedger: false)
    }

    /// The key that a new ledger is to have; nil: it is to keep one itself.
    ///
    /// - Throws: as `read`.
    package func given() throws -> [UInt8]? { isOwn ? nil : try read(needsLedger: false) }
}

extension MasterKey {
    /// Reads a key from a file that was named; one that others could have put there is refused.
    ///
    /// - Throws: `OperationFault`.
    package static func read(named file: String, ledger: String) throws -> [UInt8] {
        try ConfigurationFile.requireTrust(file, ledger: ledger)
        return try read(file)
    }
}
