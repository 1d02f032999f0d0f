import DurableFiles
import EventLog

/// Where nothing stands in pages that are in use: between the places of nodes and the nodes, and
/// behind a value that has pages of its own.
///
/// LMDB clears none of it: where a page was split, or takes memory that another page had, what
/// stood there before goes into the file again.
enum PageGaps {
    /// Fills them with zeros where they stand; no reader looks at them, and a power cut leaves each
    /// sector as it was or as it is to be.
    ///
    /// Cost: all branches and leaves are read, and the end of each value with pages of its own.
    ///
    /// - Throws: `FileFault`; `LogStorageFault.damaged` where the tables cannot be followed.
    /// - Precondition: Nobody commits meanwhile, and what was committed is in the file.
    static func blank(in path: String) throws {
        let file = try RawFile(path: path)
        guard let meta = try DatabasePage.metas(file).first else { throw fault }
        var names = DatabaseWalk(bytes: file, pageSize: meta.pageSize)
        let tables = try names.tables(meta).values
        let roots = [meta.freeRoot, meta.root] + tables.map { $0 }
        try DurableFile.overwriting(path) { put in
            func blank(_ start: UInt64, _ count: Int) throws {
                let stands = try file.read(at: start, count: count)
                guard stands.contains(where: { $0 != 0 }) else { return }
                try put(start, Array(repeating: 0, count: stands.count))
            }
            func blankGap(_ page: Span<UInt8>, _ offset: UInt64) throws {
                guard let gap = DatabasePage.gap(page) else { return }
                try blank(offset + UInt64(gap.lowerBound), gap.count)
            }
            var walk = DatabaseWalk(bytes: file, pageSize: meta.pageSize)
            for root in roots {
                try walk.run(root, branch: blankGap) { page, offset in
                    try blankGap(page, offset)
                    for place in ownPages(page, offset, meta.pageSize) {
                        let rest = place.end % UInt64(meta.pageSize)
                        if rest > 0 { try blank(place.end, meta.pageSize - Int(rest)) }
                    }
                }
            }
            guard walk.isWhole else { throw fault }
        }
    }

    private static let fault = LogStorageFault(.damaged, "the log's tables cannot be followed")

    /// The values of a leaf that have pages of their own.
    private static func ownPages(
        _ page: Span<UInt8>,
        _ offset: UInt64,
        _ pageSize: Int
    ) -> [DatabasePage.Place] {
        var places: [DatabasePage.Place] = []
        DatabasePage.forEachNode(page) { node in
            guard case .overflow = node.value else { return }
            node.place(pageAt: offset, pageSize: pageSize).map { places.append($0) }
        }
        return places
    }
}
