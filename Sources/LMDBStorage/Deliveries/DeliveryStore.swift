import DurableFiles
import EventLog
import LMDB
import Synchronization

/// What waits to be told to others, in an LMDB environment of its own beside the log: who is told, how far
/// the log was looked through, what was noticed, and who has not taken it yet.
///
/// It names nobody: customers are numbers of streams, and what is noticed is bytes of the caller's that name
/// nobody either. Several processes may use it at once. A whole loss of it loses endpoints and what was not
/// delivered, and nothing of the ledger.
///
/// Tables: `endpoints` (number → bytes), `cursors` (number → the first notice that was not looked at),
/// `notices` (number → bytes), `due` (instant, stream → environment), `dueOf` (stream → instant), `waiting`
/// and `dead` (endpoint, notice → bytes), `progress`.
package final class DeliveryStore: Sendable {
    private let environment: LMDB.Environment
    let endpoints, cursors, notices, due, dueOf, waiting, dead, progress: Table
    private let changes = Atomic<UInt64>(0)

    /// How often this process changed something that machines of a cluster hold in common.
    package var changeCount: UInt64 { changes.load(ordering: .sequentiallyConsistent) }

    /// The folder in a ledger's directory.
    package static let folderName = "deliveries"

    /// Address space that the map gets more when it is full.
    private static let growth = 1 << 30

    /// Opens the store in a folder, which is made where there is none and it may be written to.
    ///
    /// - Throws: `LogStorageFault`, or what making a folder throws.
    package init(
        path: String,
        isReadOnly: Bool = false,
        mapSize: Int = MapSize.usual
    ) throws {
        if !isReadOnly { try DurableFile.makeFolder(path) }
        let environment = try mappingFaults {
            try LMDB.Environment(
                path: path,
                options: .init(mapSize: mapSize, isReadOnly: isReadOnly, isMended: true)
            )
        }
        self.environment = environment
        func table(_ name: String) throws -> Table {
            guard let table = try environment.table(name, create: !isReadOnly) else {
                throw LogStorageFault(.damaged, "the deliveries have no table \(name)")
            }
            return table
        }
        (endpoints, cursors, notices, due, dueOf, waiting, dead, progress) = try mappingFaults {
            (
                try table("endpoints"), try table("cursors"), try table("notices"),
                try table("due"),
                try table("dueOf"), try table("waiting"), try table("dead"), try table("progress")
            )
        }
        guard !isReadOnly else { return }
        try DurableFile.syncDirectory(of: path + "/")
        try DurableFile.syncName(ofDirectory: path)
    }

    /// Ends the use of the environment.
    package func close() { environment.close() }

    func reading<Result>(_ body: (borrowing ReadTransaction) throws -> Result) throws -> Result {
        try mappingFaults { try environment.read(body) }
    }

    /// `isOwn`: it changes nothing that machines of a cluster hold in common.
    func writing<Result>(
        isOwn: Bool = false,
        _ body: (borrowing WriteTransaction) throws -> Result
    ) throws -> Result {
        let result = try mappingFaults { try environment.write(growingBy: Self.growth, body) }
        if !isOwn { changes.add(1, ordering: .sequentiallyConsistent) }
        return result
    }
}

extension ReadableTransaction where Self: ~Copyable {
    /// A number that stands under a key; nil: none does.
    func number(_ table: Table, _ key: Key) throws -> UInt64? {
        try get(table, key) { value throws -> UInt64 in
            guard value.count == 8 else {
                throw LogStorageFault(.damaged, "a number of the deliveries is none")
            }
            return value.loadUInt64BigEndian(at: 0)
        }
    }

    func bytes(_ table: Table, _ key: Key) throws -> [UInt8]? {
        try get(table, key) { value in value.copy() }
    }
}

extension WriteTransaction {
    func put(_ table: Table, _ key: Key, number: UInt64) throws {
        try reserve(table, key, count: 8, appending: false) { value in
            value.storeUInt64BigEndian(number, at: 0)
        }
    }

    func put(_ table: Table, _ key: Key, bytes: [UInt8]) throws {
        try put(table, key, bytes.span)
    }

    /// Removes every entry whose key begins with a number, up to those with a second one.
    func deleteAll(
        _ table: Table,
        beginningWith number: UInt64,
        upTo last: UInt64 = .max
    ) throws {
        var keys: [UInt64] = []
        try scan(table, from: Key(number, 0)) { key, _ in
            guard key.count == 16, key.loadUInt64BigEndian(at: 0) == number else { return false }
            let second = key.loadUInt64BigEndian(at: 8)
            guard second <= last else { return false }
            keys.append(second)
            return true
        }
        for key in keys { _ = try delete(table, Key(number, key)) }
    }
}
