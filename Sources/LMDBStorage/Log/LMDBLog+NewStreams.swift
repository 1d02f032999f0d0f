package import EventLog
import FoundationEssentials
import Glibc
import LMDB
import Synchronization

/// New streams ride in the log's commit, and stand in a table of their own until the vault has taken
/// them over (Storage, "Append").
extension LMDBLog {
    /// The table, which logs of format 1 do not have until a stream is new in them.
    static let newStreamsName = "newStreams"
    /// Streams that a batch removes at least, beside twice those that it adds: a caller does not wait
    /// for all that others left.
    private static let removedPerBatch = 256
    /// How often it is looked whether the vault has taken over what waits, a moment apart.
    private static let attempts = 50
    private static let microsecondsBetweenAttempts: UInt32 = 100_000

    // MARK: Reading

    /// The entry of a new stream; nil where none stands.
    func newStream(_ stream: UInt64) throws -> [UInt8]? {
        try readNewStreams { try $0.get($1, Key(stream)) { $0.copy() } } ?? nil
    }

    /// See `LogStorage`.
    package func newStreams(from first: UInt64) throws -> [NewStream] {
        var found: [NewStream] = []
        try readNewStreams { transaction, table in
            try transaction.scan(table, from: Key(first)) { key, value in
                found.append(NewStream(stream: try Self.stream(key), bytes: value.copy()))
                return true
            }
        }
        return found
    }

    /// The first and the last of them; nil for none.
    func newStreamRange() throws -> ClosedRange<UInt64>? {
        let range: ClosedRange<UInt64>?? = try readNewStreams { transaction, table in
            let first = try transaction.first(table) { key, _ in try Self.stream(key) }
            let last = try transaction.last(table) { key, _ in try Self.stream(key) }
            guard let first, let last, first <= last else { return nil }
            return first...last
        }
        return range ?? nil
    }

    /// Lends a snapshot of the table; nil where there is none.
    private func readNewStreams<Result>(
        _ body: (borrowing ReadTransaction, Table) throws -> Result
    ) throws -> Result? {
        try mappingFaults {
            try withEnvironment { opened in
                // A reader may be there before its first writer.
                guard
                    let table = try opened.environment.table(Self.newStreamsName, create: false)
                else { return nil }
                return try opened.environment.read { try body($0, table) }
            }
        }
    }

    private static func stream(_ key: Span<UInt8>) throws -> UInt64 {
        guard key.count == 8 else {
            throw LogStorageFault(.damaged, "a new stream's key is not a number")
        }
        return key.loadUInt64BigEndian(at: 0)
    }

    /// See `LogReader`.
    package func awaitTakeOver() throws {
        guard let last = try newStreamRange()?.upperBound else { return }
        for _ in 0..<Self.attempts {
            guard let first = try newStreamRange()?.lowerBound, first <= last else { return }
            usleep(Self.microsecondsBetweenAttempts)
        }
        throw LogStorageFault(.busy, "new streams wait to be taken over by the vault: try again")
    }

    // MARK: Writing

    /// Makes the table where there is none; nil where nothing of a batch needs it.
    ///
    /// The ledger says its format first: a program that does not know the table would lose keys.
    func newStreamsTable(for batch: LogBatch, _ opened: Current) throws -> Table? {
        guard !batch.newStreams.isEmpty || holdsTakenOver else { return nil }
        let known = try opened.environment.table(Self.newStreamsName, create: false)
        guard known == nil, !batch.newStreams.isEmpty else { return known }
        let ledger = URL(filePath: path).deletingLastPathComponent().path(percentEncoded: false)
        try LedgerDirectory.upgrade(at: ledger)
        return try makeNewStreams(in: opened)
    }

    /// Makes the table of a ledger that is just being made.
    func makeNewStreams() throws {
        try mappingFaults { try withEnvironment { _ = try makeNewStreams(in: $0) } }
    }

    private func makeNewStreams(in opened: Current) throws -> Table? {
        try opened.environment.table(Self.newStreamsName, create: true)
    }

    /// Adds what is new; a stream whose commit was in doubt is put again.
    private func put(
        _ new: [NewStream],
        _ transaction: borrowing WriteTransaction,
        _ table: Table
    ) throws {
        guard !new.isEmpty else { return }
        let last = try transaction.last(table) { key, _ in try Self.stream(key) }
        for new in new {
            if let last, new.stream <= last {
                try transaction.put(table, Key(new.stream), new.bytes.span)
            } else {
                try transaction.append(table, Key(new.stream), new.bytes.span)
            }
        }
    }

    /// Writes what a batch says of new streams, and removes some that were taken over.
    ///
    /// - Returns: up to which stream none is left; nil: some are.
    func putNewStreams(
        of batch: LogBatch,
        _ transaction: borrowing WriteTransaction,
        _ table: Table
    ) throws -> UInt64? {
        let count = batch.newStreams.count
        let removed = try removeTakenOver(
            atMost: Self.removedPerBatch + 2 * count,
            transaction,
            table
        )
        try put(batch.newStreams, transaction, table)
        return removed
    }

    private func removeTakenOver(
        atMost limit: Int,
        _ transaction: borrowing WriteTransaction,
        _ table: Table
    ) throws -> UInt64? {
        let last = takenOver.withLock { $0 }
        guard last > 0 else { return nil }
        var gone: [UInt64] = []
        try transaction.scan(table, from: nil) { key, _ in
            let stream = try Self.stream(key)
            guard stream <= last else { return false }
            gone.append(stream)
            return gone.count < limit
        }
        for stream in gone { _ = try transaction.delete(table, Key(stream)) }
        return gone.count < limit ? last : nil
    }

    /// Whether something was taken over that stands here yet.
    var holdsTakenOver: Bool { takenOver.withLock { $0 > 0 } }

    /// Forgets a removal that a commit has made durable.
    func noteRemoved(upTo last: UInt64?) {
        guard let last else { return }
        takenOver.withLock { if $0 == last { $0 = 0 } }
    }

    /// See `LogStorage`.
    package func tookOver(upTo stream: UInt64) {
        takenOver.withLock { $0 = max($0, stream) }
    }

    /// See `LogStorage`.
    ///
    /// After a commit of unknown outcome the log is opened again, so that the next append finds it so.
    package func removeTakenOver() throws {
        guard holdsTakenOver else { return }
        do {
            try mappingFaults {
                try withEnvironment { opened in
                    try opened.files?.check()
                    let table = try opened.environment.table(Self.newStreamsName, create: false)
                    guard let table else { return }
                    var removed: UInt64?
                    try opened.environment.write(growingBy: MapSize.growth) { transaction in
                        removed = try removeTakenOver(atMost: .max, transaction, table)
                    }
                    noteRemoved(upTo: removed)
                }
            }
        } catch let fault as LogStorageFault where [.outcomeUnknown, .full].contains(fault.code) {
            isInDoubt.withLock { $0 = true }
            // Where that fails too, the next append tries.
            try? reopen()
            throw fault
        }
    }
}
