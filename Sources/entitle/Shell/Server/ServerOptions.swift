import ArgumentParser
import Encodings
import LMDBStorage
import LedgerAPI
import LedgerOperations
import LedgerServer

/// Which server is asked in place of the ledger's own files.
struct ServerOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Asks a server instead, by its address.", valueName: "url"))
    var server: String?

    @Option(
        help: ArgumentHelp("A file with the key that the server is asked with.", valueName: "file")
    )
    var tokenFile: String?

    /// The server that is named; nil: none is.
    func named() throws -> ServerClient? {
        guard let server else { return nil }
        return try ServerClient(url: server, token: token())
    }

    /// The server that is to be asked for what is recorded: one that is named, else the one that holds the
    /// ledger; nil: there is none, and the command does it by itself.
    func writing(_ options: LedgerOptions) throws -> ServerClient? {
        let path = options.path
        return try named() ?? Blocking.wait { await ServerClient.local(ofLedgerAt: path) }
    }

    /// The server that is to be asked for who is told of what happens: one that is named, else that of a machine
    /// of a cluster; nil: the ledger's own files tell.
    func telling(_ options: LedgerOptions) throws -> ServerClient? {
        if let client = try named() { return client }
        guard LedgerDirectory.isNode(at: options.path) else { return nil }
        guard let client = try writing(options) else {
            throw LedgerOpenFault(.clustered, "it is a copy of a cluster's ledger")
        }
        return client
    }

    /// Refuses to ask a server what only the ledger's own files tell.
    func refuse() throws {
        guard server == nil else {
            throw OperationFault(
                .usage,
                "this is done on the ledger's own directory",
                place: "--server",
                hint: "leave --server away, on the machine of the ledger"
            )
        }
    }

    /// The key that stands in the file that is named.
    private func token() throws -> String? {
        guard let tokenFile else { return nil }
        let reader = try LineReader(tokenFile, isInterrupted: { Interrupt.isRaised })
        let text = String(decoding: try reader.next()?.bytes ?? [], as: UTF8.self)
        guard let key = text.split(whereSeparator: \.isWhitespace).first else {
            throw OperationFault(.noInput, "the file has no key in it", place: tokenFile)
        }
        return String(key)
    }
}

extension ServerClient {
    /// Has the server sign a checkpoint; where it signs none for this key, the last one is taken.
    func signIfAllowed() {
        let call = ServerCall.change(.post, ["v1", "checkpoint"], [], .object([]))
        // Why it does not, whatever is asked next tells, where it matters.
        _ = try? Blocking.value { try await answer(to: call) }
    }

    /// Asks, and reads what is answered.
    func answer<Answer: Described>(_ call: ServerCall, as _: Answer.Type) throws -> Answer {
        // What cannot be read is told of, and not why.
        try read(call) { try? Answer.fields.read($0) }
    }

    /// Reads what was answered already.
    func understood<Answer: Described>(_ json: JSONValue, as _: Answer.Type) throws -> Answer {
        // The same.
        guard let answer = try? Answer.fields.read(json) else { throw Self.notUnderstood }
        return answer
    }

    /// What a server answers, as JSON.
    ///
    /// - Throws: `OperationFault` where it answers with a problem, with something else, or not at all.
    func json(_ call: ServerCall) throws -> JSONValue { try read(call) { $0 } }

    /// Asks, and reads one member of what is answered.
    func member<Value>(
        _ name: String,
        of call: ServerCall,
        _ read: (JSONValue) -> Value?
    ) throws -> Value {
        try self.read(call) { $0[name].flatMap(read) }
    }

    /// Asks, and reads what is answered; nil: it cannot be read.
    func read<Value>(_ call: ServerCall, _ read: (JSONValue) -> Value?) throws -> Value {
        let bytes = try Blocking.value { try await answer(to: call) }
        // An answer of another version's server may have another shape.
        guard let json = try? JSONValue(parsing: bytes), let answer = read(json) else {
            throw Self.notUnderstood
        }
        return answer
    }

    private static var notUnderstood: OperationFault {
        OperationFault(
            .wrongAnswer,
            "the server's answer is not what this version reads",
            hint: "use the command of the server's version"
        )
    }
}
