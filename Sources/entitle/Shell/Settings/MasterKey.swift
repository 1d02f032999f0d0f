import Encodings
import Foundation
import LMDBStorage
import LedgerOperations

/// Where flags and variables say that the master key is.
extension MasterKey {
    /// More than its digits and some white space.
    private static let textByteLimit = 4096

    /// Reads the key: a flag's, then `ENTITLE_KEY`, `ENTITLE_KEY_FILE`, `ENTITLE_KEY_COMMAND`, then
    /// the ledger's own.
    static func read(_ options: LedgerOptions, needsLedger: Bool = true) throws -> [UInt8] {
        let settings = Settings.current
        if let key = settings.passedKey { return try parse(key, place: "standard input") }
        let flags: [Any?] = [options.keyFile, options.keyDescriptor, options.keyCommand]
        guard flags.compactMap(\.self).count <= 1 else {
            throw CommandFailure(
                .usage,
                "usage",
                "the master key is given twice",
                hint: "one of --key-file, --key-fd and --key-command"
            )
        }
        if let descriptor = options.keyDescriptor { return try read(descriptor) }
        if let command = options.keyCommand { return try run(command) }
        if options.keyFile == nil {
            if let key = settings.key { return try parse(key, place: "ENTITLE_KEY") }
            if settings.keyFile == nil, let command = settings.keyCommand {
                return try run(command)
            }
        }
        if needsLedger { _ = try LedgerDirectory.manifest(at: options.path) }
        guard let file = options.keyFile ?? settings.keyFile else {
            // The ledger's own proves itself: no other opens the vault.
            return try read(options.path + "/" + LedgerDirectory.keyName)
        }
        return try read(named: file, ledger: options.path)
    }

    /// Reads a key from a file that was named; one that others could have put there is refused.
    static func read(named file: String, ledger: String) throws -> [UInt8] {
        try ConfigurationFile.requireTrust(file, ledger: ledger)
        return try read(file)
    }

    /// The key as its source gives it by now: a running server asks again where the one that it has
    /// does not open the vault any more.
    static func renewed(_ options: LedgerOptions) throws -> [UInt8] {
        let next = options.path + "/" + LedgerDirectory.nextKeyName
        return isOwn(options) && FileManager.default.fileExists(atPath: next)
            ? try read(next) : try read(options)
    }

    /// Whether the ledger keeps its key itself.
    static func isOwn(_ options: LedgerOptions) -> Bool {
        let settings = Settings.current
        return options.keyFile == nil && options.keyDescriptor == nil
            && options.keyCommand == nil && settings.keyFile == nil && settings.key == nil
            && settings.keyCommand == nil
    }

    /// The same for a ledger that is being made: what is given, else its own if that stands there
    /// already, else that of the ledger at hand.
    static func read(_ options: LedgerOptions, orAt path: String) throws -> [UInt8] {
        var options = options
        let own = path + "/" + LedgerDirectory.keyName
        if isOwn(options), FileManager.default.fileExists(atPath: own) { options.keyFile = own }
        return try read(options, needsLedger: false)
    }

    /// Reads a descriptor to its end, once for this process.
    private static func read(_ descriptor: Int32) throws -> [UInt8] {
        let place = "--key-fd \(descriptor)"
        if let known = Settings.current.descriptorKey { return try parse(known, place: place) }
        let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: false)
        guard let data = try? handle.readToEnd(), data.count <= textByteLimit else {
            throw unreadable(place, "open it for reading: --key-fd 3 3<FILE")
        }
        let text = String(decoding: data, as: UTF8.self)
        Settings.current.descriptorKey = text
        return try parse(text, place: place)
    }

    /// Runs a command that prints the key: a secret store's client, say.
    private static func run(_ command: String) throws -> [UInt8] {
        let process = Process()
        process.executableURL = URL(filePath: "/bin/sh")
        process.arguments = ["-c", command]
        let output = Pipe()
        process.standardOutput = output
        process.standardInput = FileHandle.nullDevice
        do {
            try process.run()
            let data = try output.fileHandleForReading.readToEnd() ?? Data()
            process.waitUntilExit()
            guard process.terminationReason == .exit, process.terminationStatus == 0,
                data.count <= textByteLimit
            else { throw CocoaError(.fileReadUnknown) }
            return try parse(String(decoding: data, as: UTF8.self), place: "--key-command")
        } catch let fault as OperationFault {
            throw fault
        } catch {
            throw unreadable(
                "--key-command",
                "the command must print 64 hexadecimal digits and exit 0"
            )
        }
    }
}
