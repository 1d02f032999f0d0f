import EventLog
import LMDB

/// One generation of the index tables: by stream and by signal.
///
/// They are derived: written behind the log without a sync, discarded at any doubt.
final class IndexTables: Sendable {
    private let environment: LMDB.Environment
    /// (stream, sequence) → kind.
    private let streams: Table
    /// Signal digest → sequence.
    private let signals: Table
    /// Code of a product in the access table → store and product id.
    private let products: Table
    /// `position` alone.
    private let state: Table
    let path: String

    init(path: String, isReadOnly: Bool) throws {
        self.path = path
        let options = LMDB.Environment.Options(isSynchronous: false, isReadOnly: isReadOnly)
        let environment = try LMDB.Environment(path: path, options: options)
        self.environment = environment
        func table(_ name: String) throws -> Table {
            guard let table = try environment.table(name, create: !isReadOnly) else {
                throw LogStorageFault(.damaged, "the views have no table \(name)")
            }
            return table
        }
        streams = try table("streams")
        signals = try table("signals")
        products = try table("products")
        state = try table("state")
    }

    func close() { environment.close() }

    func sync() throws { try environment.sync() }

    // MARK: Position

    func position() throws -> ViewPosition? {
        try environment.read { transaction in
            try transaction.get(state, Key(0)) { try ViewPosition(decoding: $0) }
        }
    }

    func put(_ position: ViewPosition) throws {
        try environment.write { try put(position, $0) }
    }

    private func put(
        _ position: ViewPosition,
        _ transaction: borrowing WriteTransaction
    ) throws {
        let bytes = position.encoded
        try transaction.put(state, Key(0), bytes.span)
    }

    // MARK: Products

    /// The products that have a code, in the order of their codes.
    func productKeys() throws -> [ProductKey] {
        var keys: [ProductKey] = []
        try environment.read { transaction in
            try transaction.scan(products, from: nil) { _, value in
                var cursor = ByteCursor()
                let store = try cursor.string(value)
                keys.append(ProductKey(store: store, productID: try cursor.string(value)))
                return true
            }
        }
        return keys
    }

    func add(_ key: ProductKey, code: Int) throws {
        var writer = ByteWriter()
        writer.append(key.store)
        writer.append(key.productID)
        try environment.write { try $0.append(products, Key(UInt64(code)), writer.bytes.span) }
    }

    // MARK: Reading

    func sequence(of signal: SignalDigest) throws -> UInt64? {
        try environment.read { transaction in
            try transaction.get(signals, Key(signal.high, signal.low)) { try Self.sequence($0) }
        }
    }

    func holds(stream: UInt64, _ sequence: UInt64, kind: UInt8) throws -> Bool {
        try environment.read { transaction in
            try transaction.get(streams, Key(stream, sequence)) { value in
                value.count == 1 && value[0] == kind
            } ?? false
        }
    }

    /// The entries of a stream below a size, ascending.
    func entries(of stream: UInt64, below size: UInt64) throws -> [StreamEntry] {
        var entries: [StreamEntry] = []
        try environment.read { transaction in
            try transaction.scan(streams, from: Key(stream, 0)) { key, value in
                let (found, entry) = try Self.streamEntry(key, value)
                guard found == stream, entry.sequence < size else { return false }
                entries.append(entry)
                return true
            }
        }
        return entries
    }

    func lastSequence(of stream: UInt64) throws -> UInt64? {
        var last: UInt64?
        try environment.read { transaction in
            try transaction.scanBackward(streams, from: Key(stream, .max)) { key, value in
                let (found, entry) = try Self.streamEntry(key, value)
                if found == stream { last = entry.sequence }
                return false
            }
        }
        return last
    }

    /// Hands out every entry of both tables, ascending by key.
    func scan(
        streams onStream: (_ stream: UInt64, StreamEntry) throws -> Void,
        signals onSignal: (SignalDigest, _ sequence: UInt64) throws -> Void
    ) throws {
        try environment.read { transaction in
            try transaction.scan(streams, from: nil) { key, value in
                let (stream, entry) = try Self.streamEntry(key, value)
                try onStream(stream, entry)
                return true
            }
            try transaction.scan(signals, from: nil) { key, value in
                guard key.count == 16 else { throw Self.misshapen }
                try onSignal(
                    SignalDigest(
                        high: key.loadUInt64BigEndian(at: 0),
                        low: key.loadUInt64BigEndian(at: 8)
                    ),
                    try Self.sequence(value)
                )
                return true
            }
        }
    }

    // MARK: Shapes

    /// Damaged pages hand out keys and values of any length.
    private static let misshapen = LogStorageFault(
        .damaged,
        "a view entry has another shape"
    )

    private static func streamEntry(
        _ key: Span<UInt8>,
        _ value: Span<UInt8>
    ) throws -> (stream: UInt64, entry: StreamEntry) {
        guard key.count == 16, value.count == 1 else { throw misshapen }
        return (
            key.loadUInt64BigEndian(at: 0),
            StreamEntry(sequence: key.loadUInt64BigEndian(at: 8), kind: value[0])
        )
    }

    private static func sequence(_ value: Span<UInt8>) throws -> UInt64 {
        guard value.count == 8 else { throw misshapen }
        return value.uint64(at: 0)
    }

    // MARK: Writing

    /// Adds entries in sorted batches and moves the position with them, in one transaction.
    func add(_ entries: [IndexEntry], position: ViewPosition) throws {
        var byStream: [(stream: UInt64, sequence: UInt64, kind: UInt8)] = []
        byStream.reserveCapacity(entries.count * 2)
        for entry in entries {
            for stream in Set(entry.streams) {
                byStream.append((stream, entry.sequence, entry.kind))
            }
        }
        byStream.sort { ($0.stream, $0.sequence) < ($1.stream, $1.sequence) }
        let bySignal = entries.sorted { ($0.signal, $0.sequence) < ($1.signal, $1.sequence) }
        try growing {
            try environment.write { transaction in
                for entry in byStream {
                    let kind: [UInt8] = [entry.kind]
                    try transaction.put(
                        streams,
                        Key(entry.stream, entry.sequence),
                        kind.span
                    )
                }
                for entry in bySignal { try put(entry, transaction) }
                try put(position, transaction)
            }
        }
    }

    /// A signal keeps its first sequence (E1).
    private func put(_ entry: IndexEntry, _ transaction: borrowing WriteTransaction) throws {
        let key = Key(entry.signal.high, entry.signal.low)
        let known = try transaction.get(signals, key) { try Self.sequence($0) }
        if let known, known <= entry.sequence { return }
        var sequence = ByteWriter(reservingCapacity: 8)
        sequence.append(entry.sequence)
        try transaction.put(signals, key, sequence.bytes.span)
    }

    /// Loads a sorted part of the stream table at its end.
    func load(streams entries: [(stream: UInt64, sequence: UInt64, kind: UInt8)]) throws {
        try growing {
            try environment.write { transaction in
                for entry in entries {
                    let kind: [UInt8] = [entry.kind]
                    try transaction.append(
                        streams,
                        Key(entry.stream, entry.sequence),
                        kind.span
                    )
                }
            }
        }
    }

    /// Loads a sorted part of the signal table at its end.
    func load(signals entries: [(signal: SignalDigest, sequence: UInt64)]) throws {
        try growing {
            try environment.write { transaction in
                for entry in entries {
                    var sequence = ByteWriter(reservingCapacity: 8)
                    sequence.append(entry.sequence)
                    try transaction.append(
                        signals,
                        Key(entry.signal.high, entry.signal.low),
                        sequence.bytes.span
                    )
                }
            }
        }
    }

    private func growing(_ body: () throws -> Void) throws {
        do {
            try body()
        } catch let error as LMDBError where error.kind == .mapFull {
            try environment.grow(toMapSize: environment.statistics.mapSize * 2)
            try body()
        }
    }
}

/// An event in a stream.
struct StreamEntry: Hashable {
    var sequence: UInt64
    var kind: UInt8
}
