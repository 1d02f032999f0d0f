// Unsafe: calls into libpq with pointers that live for the call, or for the object that owns them;
// what is sent is copied by libpq before the call returns.

import CPostgres
import Glibc
import Synchronization

/// A connection, used by one thread at a time.
///
/// libpq itself waits while it connects, for each host at most as long as it is given, else it passed a
/// silent one over for none; from then on a call waits for the socket, at most as long as it is given,
/// and is then given up together with the connection. Nothing is ever cancelled: a wait for a standby that is
/// cancelled looks like a success.
@safe
package final class PostgresConnection: @unchecked Sendable {
    // Unchecked: every call holds `turn`.
    private let handle: OpaquePointer
    private let turn = Mutex<State>(State())
    private let warnings: Warnings

    private struct State {
        var prepared: Set<StaticText> = []
        var isBroken = false
    }

    /// A statement that is prepared at its first use, and the values for its places.
    package struct Command: Sendable {
        var statement: StaticText
        var values: [PostgresValue]

        /// Names one.
        package init(_ statement: StaticText, _ values: [PostgresValue] = []) {
            self.statement = statement
            self.values = values
        }
    }

    /// A statement of the program's own: its text, and the name that it is prepared under.
    package struct StaticText: Sendable, Hashable {
        /// The name.
        package var name: String
        /// The text, with `$1` and so on for values.
        package var sql: String

        /// Makes one; nothing of it comes from outside.
        package init(_ name: String, _ sql: String) {
            self.name = name
            self.sql = sql
        }
    }

    /// What became of a command.
    package enum Reply: Sendable, Equatable {
        /// Rows, none for a command that gives none.
        case rows([PostgresRow])
        /// It was refused.
        case refused(PostgresRefusal)
    }

    /// What became of commands, and what PostgreSQL warned of meanwhile.
    package struct Replies: Sendable, Equatable {
        /// In the order of the commands.
        package var replies: [Reply]
        /// SQLSTATE of each warning.
        package var warnings: [String]
    }

    /// Connects.
    ///
    /// `text`: libpq's connection string. `seconds`: how long it may take, for each host. `others`: what
    /// is not to be as it says.
    ///
    /// - Throws: ``PostgresFault`` with `unreachable`.
    package init(
        _ text: String,
        within seconds: Int,
        others: [(String, String)] = []
    ) throws(PostgresFault) {
        // What stands later wins: the operator's words over ours, but for the encoding.
        let words =
            [
                ("fallback_application_name", "entitlement-ledger"),
                ("connect_timeout", "\(seconds)"),
                ("keepalives_idle", "3"), ("keepalives_interval", "1"), ("keepalives_count", "3"),
                ("dbname", text), ("client_encoding", "UTF8"),
            ] + others
        guard unsafe libpq_handle() != nil else {
            throw PostgresFault(.unreachable, "libpq 14 or newer is not installed (Debian: libpq5)")
        }
        // libpq says what it cannot read, a password in it say.
        guard ConnectionText.fault(in: text) != .malformed else {
            throw PostgresFault(.unreachable, "this is no connection string of libpq")
        }
        var made = unsafe Self.connect(words)
        while let failed = unsafe made, let left = unsafe ConnectionText.hostsLeft(by: failed) {
            unsafe libpq_finish(failed)
            unsafe made = Self.connect(words + left)
        }
        guard let handle = unsafe made else {
            throw PostgresFault(.unreachable, "there is no memory for a connection")
        }
        warnings = Warnings()
        unsafe self.handle = handle
        guard unsafe libpq_status(handle) == CONNECTION_OK else { throw unreachable() }
        unsafe libpq_setNoticeReceiver(
            handle,
            { box, result in unsafe Warnings.note(box, result) },
            Unmanaged.passUnretained(warnings).toOpaque()
        )
        guard unsafe libpq_setnonblocking(handle, 1) == 0 else { throw unreachable() }
    }

    deinit { unsafe libpq_finish(handle) }

    private static func connect(_ words: [(String, String)]) -> OpaquePointer? {
        var names: [UnsafePointer<CChar>?] = unsafe []
        var values: [UnsafePointer<CChar>?] = unsafe []
        for (name, value) in words {
            let (copiedName, copiedValue) = unsafe (strdup(name), strdup(value))
            unsafe names.append(UnsafePointer(copiedName))
            unsafe values.append(UnsafePointer(copiedValue))
        }
        defer {
            unsafe (names + values).forEach { unsafe free(UnsafeMutableRawPointer(mutating: $0)) }
        }
        return unsafe libpq_connectdbParams(names + [nil], values + [nil], 1)
    }

    private func unreachable() -> PostgresFault { PostgresFault(.unreachable, message) }

    /// The last error's first line.
    private var message: String {
        guard let text = unsafe libpq_errorMessage(handle) else { return "" }
        let lines = unsafe String(cString: text).split(separator: "\n")
        return String(lines.first ?? "it says nothing")
    }

    /// The server's version as libpq numbers it: 150 003 is 15.3.
    package var serverVersion: Int { Int(unsafe libpq_serverVersion(handle)) }

    /// The server's process, as the connection was told it.
    package var process: Int64 { Int64(unsafe libpq_backendPID(handle)) }

    /// Sends commands, each a transaction of its own unless one began a longer one, in one go, and waits
    /// for all replies.
    ///
    /// - Throws: ``PostgresFault``: the connection is of no more use, and nobody knows what happened.
    package func exchange(
        _ commands: [Command],
        within milliseconds: Int64
    ) throws(PostgresFault) -> Replies {
        let outcome: Result<Replies, PostgresFault> = turn.withLock { state in
            do throws(PostgresFault) {
                guard !state.isBroken else { throw PostgresFault(.lost, "it broke before") }
                return .success(
                    try exchange(commands, until: Deadline(milliseconds: milliseconds), &state)
                )
            } catch {
                state.isBroken = true
                return .failure(error)
            }
        }
        return try outcome.get()
    }

    private func exchange(
        _ commands: [Command],
        until deadline: Deadline,
        _ state: inout State
    ) throws(PostgresFault) -> Replies {
        warnings.clear()
        guard unsafe libpq_enterPipelineMode(handle) == 1 else { throw lost() }
        var isNew: [Bool] = []
        for command in commands {
            // One without a name is prepared anew each time.
            let isNamed = !command.statement.name.isEmpty
            isNew.append(!isNamed || state.prepared.insert(command.statement).inserted)
            try send(command, preparing: isNew[isNew.count - 1])
        }
        try flush(until: deadline)
        var replies: [Reply] = []
        for (command, isNew) in zip(commands, isNew) {
            var reply = Reply.rows([])
            if isNew { reply = try self.reply(until: deadline) }
            if case .refused(let refusal) = reply {
                state.prepared.remove(command.statement)
                // What stands behind a refusal is passed over by the server.
                _ = try self.reply(until: deadline)
                reply = .refused(refusal)
            } else {
                reply = try self.reply(until: deadline)
            }
            try requireSync(until: deadline)
            replies.append(reply)
        }
        guard unsafe libpq_exitPipelineMode(handle) == 1 else { throw lost() }
        return Replies(replies: replies, warnings: warnings.all)
    }

    private func lost() -> PostgresFault { PostgresFault(.lost, message) }

    private func send(_ command: Command, preparing: Bool) throws(PostgresFault) {
        let types = command.values.map(\.type)
        let name = command.statement.name
        if preparing {
            let isSent = unsafe libpq_sendPrepare(
                handle,
                name,
                command.statement.sql,
                Int32(types.count),
                types
            )
            guard isSent == 1 else { throw lost() }
        }
        guard sendValues(command) == 1, unsafe libpq_pipelineSync(handle) == 1 else {
            throw lost()
        }
    }

    private func sendValues(_ command: Command) -> Int32 {
        let values = command.values.map(\.encoded)
        // One buffer, so that all pointers live for the call.
        var all: [UInt8] = []
        // Fits: values of one commit, which stand in memory.
        all.reserveCapacity(values.reduce(0) { $0 + ($1?.count ?? 0) + 1 })
        var starts: [Int?] = []
        for value in values {
            starts.append(value == nil ? nil : all.count)
            all += value ?? []
            // A value of no bytes still has an address.
            all.append(0)
        }
        let lengths = values.map { Int32($0?.count ?? 0) }
        let formats = values.map { _ in Int32(1) }
        return unsafe all.withUnsafeBytes { buffer in
            let pointers = unsafe starts.map { (start: Int?) -> UnsafePointer<CChar>? in
                guard let start, let base = buffer.baseAddress else { return nil }
                return unsafe (base + start).assumingMemoryBound(to: CChar.self)
            }
            return unsafe libpq_sendQueryPrepared(
                handle,
                command.statement.name,
                Int32(values.count),
                pointers,
                lengths,
                formats,
                1
            )
        }
    }

    private func flush(until deadline: Deadline) throws(PostgresFault) {
        while true {
            switch unsafe libpq_flush(handle) {
            case 0: return
            case 1:
                // What the server sends meanwhile must be taken, or both wait for one another.
                guard try wait(for: Int16(POLLIN | POLLOUT), until: deadline) else {
                    throw timedOut()
                }
                guard unsafe libpq_consumeInput(handle) == 1 else { throw lost() }
            default: throw lost()
            }
        }
    }

    private func timedOut() -> PostgresFault {
        PostgresFault(.timedOut, "no answer came in time")
    }

    /// The next result; nil: none is left of the command.
    private func result(until deadline: Deadline) throws(PostgresFault) -> OpaquePointer? {
        while unsafe libpq_isBusy(handle) == 1 {
            guard try wait(for: Int16(POLLIN), until: deadline) else { throw timedOut() }
            guard unsafe libpq_consumeInput(handle) == 1 else { throw lost() }
        }
        return unsafe libpq_getResult(handle)
    }

    private func reply(until deadline: Deadline) throws(PostgresFault) -> Reply {
        guard let result = unsafe try result(until: deadline) else { throw lost() }
        let reply: Reply
        do {
            defer { unsafe libpq_clear(result) }
            reply = try unsafe read(result)
        }
        // The end of the command's results.
        guard unsafe try self.result(until: deadline) == nil else {
            throw PostgresFault(.unexpected, "a command has more results than one")
        }
        return reply
    }

    private func read(_ result: OpaquePointer) throws(PostgresFault) -> Reply {
        switch unsafe libpq_resultStatus(result) {
        case PGRES_COMMAND_OK: return .rows([])
        case PGRES_TUPLES_OK:
            let columns = unsafe libpq_nfields(result)
            return .rows(
                unsafe (0..<libpq_ntuples(result)).map { row in
                    PostgresRow(columns: (0..<columns).map { unsafe Self.value(result, row, $0) })
                }
            )
        case PGRES_FATAL_ERROR:
            let refusal = unsafe PostgresRefusal(
                state: Self.field(result, UInt8(ascii: "C")),
                severity: Self.field(result, UInt8(ascii: "V")),
                message: Self.field(result, UInt8(ascii: "M"))
            )
            // Without a state it is libpq's own: the connection broke.
            guard !refusal.state.isEmpty else { throw lost() }
            return .refused(refusal)
        case PGRES_PIPELINE_ABORTED: return .rows([])
        default: throw PostgresFault(.unexpected, "a result is of no kind that was asked for")
        }
    }

    private static func value(_ result: OpaquePointer, _ row: Int32, _ column: Int32) -> [UInt8]? {
        guard unsafe libpq_getisnull(result, row, column) == 0,
            let start = unsafe libpq_getvalue(result, row, column)
        else { return nil }
        let count = Int(unsafe libpq_getlength(result, row, column))
        return unsafe Array(UnsafeRawBufferPointer(start: start, count: count))
    }

    fileprivate static func field(_ result: OpaquePointer, _ field: UInt8) -> String {
        guard let text = unsafe libpq_resultErrorField(result, Int32(field)) else { return "" }
        return unsafe String(cString: text)
    }

    private func requireSync(until deadline: Deadline) throws(PostgresFault) {
        guard let result = unsafe try result(until: deadline) else { throw lost() }
        defer { unsafe libpq_clear(result) }
        guard unsafe libpq_resultStatus(result) == PGRES_PIPELINE_SYNC else { throw lost() }
    }

    /// Waits until a notification has come, or a moment has passed; takes all that came.
    ///
    /// - Returns: the text of the last; nil: none came.
    /// - Throws: ``PostgresFault``.
    package func awaitNotification(within milliseconds: Int64) throws(PostgresFault) -> String? {
        var text: String?
        let fault: PostgresFault? = turn.withLock { state in
            do throws(PostgresFault) {
                guard !state.isBroken else { throw PostgresFault(.lost, "it broke before") }
                _ = try wait(for: Int16(POLLIN), until: Deadline(milliseconds: milliseconds))
                guard unsafe libpq_consumeInput(handle) == 1 else { throw lost() }
                while let notification = unsafe libpq_notifies(handle) {
                    text = unsafe String(cString: notification.pointee.extra)
                    unsafe libpq_freemem(notification)
                }
                return nil
            } catch {
                state.isBroken = true
                return error
            }
        }
        if let fault { throw fault }
        return text
    }

    /// - Returns: false where the time was over.
    private func wait(for events: Int16, until deadline: Deadline) throws(PostgresFault) -> Bool {
        var place = pollfd(fd: unsafe libpq_socket(handle), events: events, revents: 0)
        while true {
            let left = deadline.milliseconds
            guard left > 0 else { return false }
            let count = unsafe poll(&place, 1, Int32(clamping: left))
            if count > 0 { return true }
            guard count == 0 || errno == EINTR else { throw lost() }
        }
    }
}

/// What PostgreSQL warned of, beside its results.
private final class Warnings: Sendable {
    private let states = Mutex<[String]>([])

    var all: [String] { states.withLock { $0 } }

    func clear() { states.withLock { $0 = [] } }

    static func note(_ box: UnsafeMutableRawPointer?, _ result: OpaquePointer?) {
        guard let box = unsafe box, let result = unsafe result,
            unsafe PostgresConnection.field(result, UInt8(ascii: "V")) == "WARNING"
        else { return }
        let state = unsafe PostgresConnection.field(result, UInt8(ascii: "C"))
        unsafe Unmanaged<Warnings>.fromOpaque(box).takeUnretainedValue().states.withLock {
            $0.append(state)
        }
    }
}
