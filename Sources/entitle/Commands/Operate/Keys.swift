import ArgumentParser
import Encodings
import Entitlements
import EventLog
import LMDBStorage
import LedgerOperations
import LedgerServer

/// The command `entitle keys`.
struct Keys: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "keys",
        abstract: "API keys: who may ask a server for what; and the master key.",
        discussion: """
            Keys stand in keys.json of the ledger's directory, without their secrets. A running
            server takes a change over within about a second. Machines of a cluster have one list,
            which stands in its database.
            """,
        subcommands: [Create.self, List.self, Revoke.self, RotateMaster.self]
    )

    /// The command `entitle keys create`.
    struct Create: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "create",
            abstract: "Makes a key and shows it, this once.",
            discussion: HelpText.discussion(
                examples: "entitle keys create --scope read --scope write"
            )
        )

        @OptionGroup var options: LedgerOptions

        @Option(
            name: [.customLong("scope")],
            help: "\(Scope.allCases.map(\.rawValue).joined(separator: ", ")); may be repeated."
        )
        var scopes: [Scope]

        @Option(help: "What you call it.")
        var name: String?

        @Option(
            parsing: .unconditional,
            help: "The end: an instant, or +90d (default: without end)."
        )
        var expires: String?

        func run() throws {
            let now = SystemClock.now()
            let (key, text) = try makeKey(now)
            try KeyCache.change(options) { file in
                guard file.add(key) else {
                    throw OperationFault(
                        .tooManyKeys,
                        "there are \(KeyFile.keyLimit) keys already",
                        hint: "revoke some: entitle keys list, entitle keys revoke ID"
                    )
                }
            }
            if options.json {
                Terminal.line(
                    .members([
                        "id": .string(key.id), "key": .string(text),
                        "scopes": .strings(key.scopes.named.map(\.rawValue)),
                        "expiresAt": .instant(key.expiresAt),
                    ])
                )
            } else {
                Terminal.line(text)
                Terminal.note("keep it safe: it is shown this once; revoke it as \(key.id)")
            }
        }

        private func makeKey(_ now: Instant) throws -> (key: APIKey, text: String) {
            if let name, !APIKey.isValidName(name) {
                throw OperationFault(
                    .usage,
                    "not a name",
                    place: "--name",
                    hint: "1 to \(APIKey.nameByteLimit) bytes without control characters"
                )
            }
            let end = try expires.map {
                try InstantArgument.parse($0, place: "--expires", now: now)
            }
            if let end, end <= now || !end.isPlausible {
                throw OperationFault(
                    .usage,
                    "a key ends in the future, before the year 2200",
                    place: "--expires",
                    hint: "+90d, say"
                )
            }
            var randomness = RandomSource.system
            return APIKey.make(
                name: name,
                scopes: ScopeSet(scopes),
                createdAt: now,
                expiresAt: end,
                using: &randomness
            )
        }
    }

    /// The command `entitle keys list`.
    struct List: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list",
            abstract: "Lists the keys, ended ones too.",
            discussion: HelpText.discussion(examples: "entitle keys list")
        )

        @OptionGroup var options: LedgerOptions

        func run() throws {
            let keys = try KeyCache.read(options).keys
            if options.json {
                Terminal.line(.members(["keys": .array(keys.map(\.shown))]))
            } else {
                for key in keys { Terminal.line(text(key, at: SystemClock.now())) }
            }
        }

        private func text(_ key: APIKey, at now: Instant) -> String {
            let end =
                switch key.expiresAt {
                case nil: "without end"
                case let end? where end <= now: "ended \(end)"
                case let end?: "until \(end)"
                }
            return [
                key.id, key.scopes.named.map(\.rawValue).joined(separator: ","),
                "made \(key.createdAt)", end, key.name ?? "-",
            ]
            .joined(separator: "  ")
        }
    }

    /// The command `entitle keys revoke`.
    struct Revoke: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "revoke",
            abstract: "Ends a key, also for servers that run.",
            discussion: HelpText.discussion(examples: "entitle keys revoke KEY")
        )

        @OptionGroup var options: LedgerOptions
        @Argument(help: "The key's id, as `keys list` shows it.") var id: String

        func run() throws {
            try KeyCache.change(options) { file in
                guard file.revoke(id) else {
                    throw OperationFault(
                        .noSuchKey,
                        "there is no such key",
                        hint: "entitle keys list"
                    )
                }
            }
            if options.json {
                Terminal.line(.members(["id": .string(id), "revoked": .bool(true)]))
            } else {
                Terminal.line("revoked \(id)")
            }
        }
    }
}

extension Scope: ExpressibleByArgument {}

extension APIKey {
    /// What `keys list` shows.
    fileprivate var shown: JSONValue {
        .members([
            "id": .string(id), "name": .optional(name),
            "scopes": .strings(scopes.named.map(\.rawValue)),
            "createdAt": .instant(createdAt), "expiresAt": .instant(expiresAt),
        ])
    }
}

/// The key file of the ledger in hand.
private enum KeyCache {
    static func read(_ options: LedgerOptions) throws -> KeyFile {
        let path = options.path
        _ = try LedgerDirectory.manifest(at: path)
        if let journal = try ClusterFile.journal(ofNodeAt: path) {
            do {
                return try file(CommonFiles.read(name, at: path, in: journal), path)
            } catch let fault as JournalFault {
                throw OperationFault(fault)
            }
        }
        do throws(InputFault) {
            return try KeyFile.read(at: path)
        } catch {
            throw fault(error, path)
        }
    }

    /// Of a cluster's ledger the list is what the cluster holds.
    static func change(_ options: LedgerOptions, _ body: (inout KeyFile) throws -> Void) throws {
        let path = options.path
        guard let journal = try ClusterFile.journal(ofNodeAt: path) else {
            return try LedgerDirectory.change(KeyFile.name, at: path) {
                var file = try read(options)
                try body(&file)
                return file.bytes
            }
        }
        do {
            try CommonFiles.change(name, at: path, in: journal) { bytes in
                var file = try file(bytes, path)
                try body(&file)
                return file.bytes
            }
        } catch let fault as JournalFault {
            throw OperationFault(fault)
        }
    }

    private static let name = Name(KeyFile.name)

    private static func file(_ bytes: [UInt8]?, _ path: String) throws -> KeyFile {
        guard let bytes else { return KeyFile() }
        do throws(InputFault) {
            return try KeyFile(parsing: bytes)
        } catch {
            throw fault(error, path)
        }
    }

    private static func fault(_ fault: InputFault, _ path: String) -> OperationFault {
        OperationFault(
            .badKeys,
            "the key file cannot be used: \(fault.detail)",
            place: path + "/" + KeyFile.name,
            hint: "mend it, or move it away to begin without keys"
        )
    }
}
