import Encodings
import EventLog
import Salvage

/// What a meta page leads to in a damaged log: the pages that were in use.
///
/// As far as they can be followed; all else in the file may be superseded.
struct LiveState {
    /// The log's end as it stands there.
    private(set) var end: LogEnd?
    /// Where bundles and tail values stand, ascending, one not within another.
    private(set) var records: [DatabasePage.Place] = []
    /// Where each bundle stands.
    private(set) var bundles: [UInt64: DatabasePage.Place] = [:]
    /// Where tiles stand.
    private(set) var tiles: [TileKey: DatabasePage.Place] = [:]
    /// Whether every page was followed to its end.
    private(set) var isWhole = true
    /// The meta page that leads here.
    let meta: DatabasePage.Meta
    /// The sizes that a signed note is kept of.
    private(set) var checkpoints: Set<UInt64> = []
    /// How many records there are at least, as the keys of bundles and tail values say.
    private(set) var recordEnd: UInt64 = 0

    /// Follows the tables of a log from a meta page on.
    ///
    /// Cost: the branch and leaf pages of its tables but `companions` and `shared`.
    init(_ meta: DatabasePage.Meta, of bytes: any RawBytes) throws {
        self.meta = meta
        var walk = DatabaseWalk(bytes: bytes, pageSize: meta.pageSize)
        for (name, root) in try walk.tables(meta).sorted(by: { $0.key < $1.key }) {
            try walk.run(root) { page, offset in
                DatabasePage.forEachNode(page) { node in
                    guard let place = node.place(pageAt: offset, pageSize: meta.pageSize) else {
                        return
                    }
                    take(name, page, node, place)
                }
            }
        }
        isWhole = walk.isWhole
        records.sort { ($0.offset, $0.count) < ($1.offset, $1.count) }
    }

    private mutating func take(
        _ table: String,
        _ page: Span<UInt8>,
        _ node: DatabasePage.Node,
        _ place: DatabasePage.Place
    ) {
        switch table {
        case "bundles" where node.key.count == 8:
            let bundle = page.extracting(node.key).bigEndian(at: 0)
            records.append(place)
            bundles[bundle] = place
            recordEnd = max(recordEnd, (bundle &+ 1) &* Bundle.recordCount)
        case "tail" where node.key.count == 8:
            records.append(place)
            let first = page.extracting(node.key).bigEndian(at: 0)
            recordEnd = max(recordEnd, first &+ 1)
        case "tiles" where place.count <= TileCoordinate.fullWidth * Digest.byteCount:
            if let key = TileKey(page.extracting(node.key)) { tiles[key] = place }
        case "checkpoints" where node.key.count == 8:
            checkpoints.insert(page.extracting(node.key).bigEndian(at: 0))
        // The ledger's id stands there, too.
        case "end" where node.key.count == 8 && page.extracting(node.key).bigEndian(at: 0) == 0:
            if case .inline(let range) = node.value {
                end = LogEnd(salvaging: page.extracting(range))
            }
        default: break
        }
    }

    /// Whether a place lies within a value that is in use.
    func holds(_ place: DatabasePage.Place) -> Bool {
        var (low, high) = (0, records.count)
        while low < high {
            let middle = (low + high) / 2
            if records[middle].offset <= place.offset { low = middle + 1 } else { high = middle }
        }
        return low > 0 && place.end <= records[low - 1].end
    }
}

/// Goes through the pages below a root, each once, whatever the pages say.
struct DatabaseWalk {
    let bytes: any RawBytes
    let pageSize: Int
    /// Whether every page was there and what it should be.
    private(set) var isWhole = true
    private var visited: Set<UInt64> = []

    init(bytes: any RawBytes, pageSize: Int) {
        self.bytes = bytes
        self.pageSize = pageSize
    }

    /// The roots of the tables that are not empty, by their names.
    mutating func tables(_ meta: DatabasePage.Meta) throws -> [String: UInt64] {
        var roots: [String: UInt64] = [:]
        try run(meta.root) { page, _ in
            DatabasePage.forEachNode(page) { node in
                guard case .table(let root?) = node.value else { return }
                roots[String(decoding: page.copy(node.key), as: UTF8.self)] = root
            }
        }
        return roots
    }

    /// Lends each leaf below a root, with its offset in the file, in the order of the keys.
    ///
    /// `branch`: is lent each branch, before what is below it.
    mutating func run(
        _ root: UInt64?,
        branch: (Span<UInt8>, UInt64) throws -> Void = { _, _ in },
        _ body: (Span<UInt8>, UInt64) throws -> Void
    ) throws {
        var waiting = root.map { [$0] } ?? []
        let pageCount = bytes.byteCount / UInt64(pageSize)
        while let number = waiting.popLast() {
            guard number < pageCount, visited.insert(number).inserted else {
                isWhole = false
                continue
            }
            let offset = number * UInt64(pageSize)
            let page = try bytes.read(at: offset, count: pageSize)
            guard DatabasePage.number(page.span) == number else {
                isWhole = false
                continue
            }
            switch DatabasePage.kind(page.span) {
            case .branch:
                try branch(page.span, offset)
                waiting += DatabasePage.children(page.span).reversed()
            case .leaf: try body(page.span, offset)
            case nil: isWhole = false
            }
        }
    }
}

extension TileKey {
    /// Reads a key of the table of tiles; nil where it is none.
    init?(_ key: Span<UInt8>) {
        guard key.count == 16, key.bigEndian(at: 0) <= UInt64(Self.levels.upperBound) else {
            return nil
        }
        self.init(level: Int(key.bigEndian(at: 0)), index: key.bigEndian(at: 8))
    }
}

extension LogEnd {
    /// Reads what may be the value of the table `end`; nil where its lengths do not fit.
    init?(salvaging value: Span<UInt8>) {
        // Bytes that are no edge are no end either.
        guard value.count >= 24,
            let edge = try? TreeEdge(decoding: value.extracting(16..<value.count))
        else { return nil }
        self.init(
            edge: edge,
            lastRecordedAt: value.int64(at: 0),
            highestCounter: value.uint64(at: 8)
        )
    }
}

extension Span<UInt8> {
    /// The big-endian number at an offset, as keys have it.
    func bigEndian(at offset: Int) -> UInt64 { uint64(at: offset).byteSwapped }
}
