import Encodings
import EventLog

/// What a meta page leads to in a damaged vault: the items that were in use.
struct LiveVault {
    /// The meta page that leads here.
    let meta: DatabasePage.Meta
    /// Whether every page was followed to its end.
    let isWhole: Bool
    /// What was hashed of each item, by its stream: the items themselves would fill the memory.
    private var hashes: [UInt64: Int] = [:]

    /// Follows the table of streams from a meta page on.
    ///
    /// Cost: one read of each of its pages.
    init(_ meta: DatabasePage.Meta, of bytes: any RawBytes) throws {
        self.meta = meta
        var walk = DatabaseWalk(bytes: bytes, pageSize: meta.pageSize)
        let root = try walk.tables(meta)["streams"]
        var places: [DatabasePage.Place] = []
        try walk.run(root) { page, offset in
            DatabasePage.forEachNode(page) { node in
                node.place(pageAt: offset, pageSize: meta.pageSize).map { places.append($0) }
            }
        }
        var areItems = true
        for place in places {
            let value = try bytes.read(
                at: place.offset,
                count: min(place.count, VaultItem.byteLimit)
            )
            // What is no item is noted, and looked for elsewhere.
            guard let item = try? VaultItem(checking: value.span) else {
                areItems = false
                continue
            }
            hashes[item.stream] = item.bytes.hashValue
        }
        isWhole = walk.isWhole && areItems
    }

    /// Whether an item is in use as it is.
    func holds(_ item: VaultItem) -> Bool { hashes[item.stream] == item.bytes.hashValue }
}
