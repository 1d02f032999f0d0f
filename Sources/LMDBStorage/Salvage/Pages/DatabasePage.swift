import EventLog

// Fits throughout: places within a page have 16 bits, counts 32; pages are multiplied with overflow
// reported.

/// How LMDB 0.9 lays out its file (`mdb.c`: `MDB_page`, `MDB_node`, `MDB_meta`, `MDB_db`), read from
/// bytes that may be anything.
///
/// A page begins with its number u64, 2 bytes, flags u16, lower and upper end of its free room u16
/// each, in overflow pages their number u32 instead. Places of nodes follow, u16 each.
enum DatabasePage {
    static let headerCount = 16
    /// What other machines may have used; ours is 4096.
    static let sizes = 512...65_536
    static let usualSize = 4096

    enum Kind { case branch, leaf }

    /// Where a value stands in the file.
    struct Place: Hashable, Sendable {
        var offset: UInt64
        var count: Int

        var end: UInt64 { offset &+ UInt64(count) }
    }

    /// An entry of a leaf.
    struct Node {
        /// The key's bytes in the page.
        var key: Range<Int>
        var value: Value

        enum Value {
            /// Bytes in the page.
            case inline(Range<Int>)
            /// Behind the header of the first of some pages that follow one another.
            case overflow(page: UInt64, count: Int)
            /// A table's root; nil: the table is empty.
            case table(root: UInt64?)
        }

        /// Where the value stands in the file; nil for a table.
        func place(pageAt offset: UInt64, pageSize: Int) -> Place? {
            switch value {
            case .inline(let range):
                return Place(offset: offset + UInt64(range.lowerBound), count: range.count)
            case .overflow(let page, let count):
                let (start, isTooFar) = page.multipliedReportingOverflow(by: UInt64(pageSize))
                guard !isTooFar, start < UInt64(Int64.max) else { return nil }
                return Place(offset: start + UInt64(DatabasePage.headerCount), count: count)
            case .table: return nil
            }
        }
    }

    private enum Flag {
        static let branch: UInt16 = 1
        static let leaf: UInt16 = 2
        static let overflow: UInt16 = 4
        static let kinds: UInt16 = 0x7F
        static let bigData: UInt16 = 1
        static let subData: UInt16 = 2
    }

    private static let nodeHeaderCount = 8
    private static let noPage = UInt64.max

    /// What a page says of itself; nil where it is neither branch nor leaf, or its ends do not fit.
    static func kind(_ page: Span<UInt8>) -> Kind? {
        guard page.count >= headerCount else { return nil }
        let kind: Kind
        switch page.uint16(at: 10) & Flag.kinds {
        case Flag.branch: kind = .branch
        case Flag.leaf: kind = .leaf
        default: return nil
        }
        let (lower, upper) = (Int(page.uint16(at: 12)), Int(page.uint16(at: 14)))
        guard lower >= headerCount, lower.isMultiple(of: 2), lower <= upper, upper <= page.count
        else { return nil }
        return kind
    }

    /// Its own number, as it states it.
    static func number(_ page: Span<UInt8>) -> UInt64? {
        page.count >= headerCount ? page.uint64(at: 0) : nil
    }

    /// Hands out the entries of a leaf that lie within it; whatever does not is passed over.
    static func forEachNode(_ page: Span<UInt8>, _ body: (Node) -> Void) {
        guard kind(page) == .leaf else { return }
        for start in nodePlaces(page) {
            let flags = page.uint16(at: start + 4)
            let keyEnd = start + nodeHeaderCount + Int(page.uint16(at: start + 6))
            guard keyEnd <= page.count else { continue }
            let count = Int(page.uint16(at: start)) | Int(page.uint16(at: start + 2)) << 16
            let key = start + nodeHeaderCount..<keyEnd
            if flags & Flag.bigData != 0 {
                guard keyEnd + 8 <= page.count else { continue }
                let value = Node.Value.overflow(page: page.uint64(at: keyEnd), count: count)
                body(Node(key: key, value: value))
            } else if count <= page.count - keyEnd {
                let range = keyEnd..<keyEnd + count
                let value: Node.Value =
                    flags & Flag.subData != 0 && count == tableCount
                    ? .table(root: root(of: page, at: keyEnd)) : .inline(range)
                body(Node(key: key, value: value))
            }
        }
    }

    /// Where nothing stands, between the places of nodes and the nodes; nil where it is no such page.
    static func gap(_ page: Span<UInt8>) -> Range<Int>? {
        guard kind(page) != nil else { return nil }
        return Int(page.uint16(at: 12))..<Int(page.uint16(at: 14))
    }

    /// How many pages a value that fills pages of its own has; nil where the page begins none.
    static func overflowCount(_ page: Span<UInt8>) -> Int? {
        guard page.count >= headerCount, page.uint16(at: 10) & Flag.kinds == Flag.overflow else {
            return nil
        }
        return Int(page.uint32(at: 12))
    }

    /// The pages below a branch.
    static func children(_ page: Span<UInt8>) -> [UInt64] {
        guard kind(page) == .branch else { return [] }
        return nodePlaces(page).map { start in
            UInt64(page.uint16(at: start)) | UInt64(page.uint16(at: start + 2)) << 16
                | UInt64(page.uint16(at: start + 4)) << 32
        }
    }

    /// Where the nodes begin whose headers lie within the page.
    private static func nodePlaces(_ page: Span<UInt8>) -> [Int] {
        let lower = Int(page.uint16(at: 12))
        return stride(from: headerCount, to: lower, by: 2).compactMap { place in
            let start = Int(page.uint16(at: place))
            return start >= lower && start + nodeHeaderCount <= page.count ? start : nil
        }
    }

    // MARK: Meta pages

    /// One of the two pages at the file's beginning, of which the newer one counts.
    struct Meta: Equatable {
        /// Its own number: 0 or 1.
        var number: Int
        var pageSize: Int
        /// The root of the table of free pages; nil: it is empty.
        var freeRoot: UInt64?
        /// The root of the table of tables; nil: it is empty.
        var root: UInt64?
        var lastPage: UInt64
        var transaction: UInt64
    }

    /// Bytes of `MDB_db`.
    private static let tableCount = 48
    private static let metaMagic: UInt32 = 0xBEEF_C0DE
    private static let metaVersion: UInt32 = 1
    /// Meta pages that a file has.
    static let metaPages = 2
    /// Bytes from the page's beginning to the end of `MDB_meta`.
    static let metaCount = 152

    /// The meta pages that can be read, the newest first.
    static func metas(_ bytes: any RawBytes) throws -> [Meta] {
        let head = try bytes.read(at: 0, count: metaCount)
        let first = meta(head.span, number: 0)
        // The second one stands a page behind; where the first is lost, its size is a guess.
        let size = first?.pageSize ?? usualSize
        let page = try bytes.read(at: UInt64(size), count: metaCount)
        let second = meta(page.span, number: 1)
        let metas = [first, second].compactMap { $0 }.filter { $0.pageSize == size }
        return metas.sorted { $0.transaction > $1.transaction }
    }

    /// Reads a meta page; nil where it is none.
    private static func meta(_ page: Span<UInt8>, number: Int) -> Meta? {
        guard page.count >= metaCount, page.uint32(at: 16) == metaMagic,
            page.uint32(at: 20) == metaVersion
        else { return nil }
        let size = Int(page.uint32(at: 40))
        guard sizes.contains(size), size.nonzeroBitCount == 1 else { return nil }
        return Meta(
            number: number,
            pageSize: size,
            freeRoot: root(of: page, at: 40),
            root: root(of: page, at: 88),
            lastPage: page.uint64(at: 136),
            transaction: page.uint64(at: 144)
        )
    }

    private static func root(of page: Span<UInt8>, at start: Int) -> UInt64? {
        let root = page.uint64(at: start + 40)
        return root == noPage ? nil : root
    }
}
