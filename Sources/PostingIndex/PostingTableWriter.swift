import EventLog

/// Writes a posting table from postings in their order.
struct PostingTableWriter {
    private let file: ViewFile
    private let keys: PostingTable.Keys
    private let firstSequence: UInt64
    private var block: PostingBlock.Encoder
    private var buffer = ByteWriter(reservingCapacity: bufferCount)
    private var firstKeys = ByteWriter()
    private var filter: KeyFilter
    private var lastKey: UInt64?
    private var description = PostingTable.Description()

    /// Bytes that are written at once.
    private static let bufferCount = 256 << 10

    /// `expectedKeys`: how many keys there will be, or a few more.
    init(file: ViewFile, keys: PostingTable.Keys, firstSequence: UInt64, expectedKeys: Int) {
        self.file = file
        self.keys = keys
        self.firstSequence = firstSequence
        block = PostingBlock.Encoder(firstSequence: firstSequence)
        let wordCount = KeyFilter.wordCount(keys: expectedKeys)
        filter = KeyFilter(words: Array(repeating: 0, count: wordCount))
        description.filterWordCount = UInt64(wordCount)
    }

    mutating func append(_ posting: Posting) throws {
        if posting.key != lastKey {
            filter.insert(posting.key)
            description.keyCount += 1
            lastKey = posting.key
        }
        if !block.hasRoom { try writeBlock() }
        if block.count == 0 { firstKeys.append(posting.key) }
        block.append(posting)
        description.count += 1
    }

    private mutating func writeBlock() throws {
        block.seal(keys.blocks, number: Int(description.blockCount))
        description.blockCount += 1
        let full = block.bytes
        buffer.append(full.span)
        block = PostingBlock.Encoder(firstSequence: firstSequence)
        if buffer.bytes.count >= Self.bufferCount { try writeBuffer() }
    }

    private mutating func writeBuffer() throws {
        try file.append(buffer.bytes.span)
        buffer.bytes.removeAll(keepingCapacity: true)
    }

    /// Ends the file and opens it as a table.
    mutating func finish() throws -> PostingTable {
        if block.count > 0 { try writeBlock() }
        let first = firstKeys.bytes
        description.keysCode = AuthenticationCode(of: first.span, under: keys.firstKeys)
        buffer.append(first.span)
        try writeBuffer()
        for word in filter.words { buffer.append(word) }
        description.filterCode = AuthenticationCode(of: buffer.bytes.span, under: keys.filter)
        try writeBuffer()
        return try PostingTable(
            file,
            description,
            keys: keys,
            firstSequence: firstSequence
        )
    }
}

extension PostingTableWriter {
    /// Writes what is in several tables, the earlier sequences first.
    mutating func append(merging tables: [PostingTable]) throws {
        var cursors: [PostingCursor] = []
        for table in tables {
            var cursor = PostingCursor(table)
            if try cursor.advance() { cursors.append(cursor) }
        }
        while !cursors.isEmpty {
            // The first of equal keys: it has the earlier sequences.
            var least = 0
            for index in cursors.indices.dropFirst()
            where cursors[index].posting.key < cursors[least].posting.key {
                least = index
            }
            try append(cursors[least].posting)
            if try !cursors[least].advance() { cursors.remove(at: least) }
        }
    }
}

/// Goes through a table from its start.
private struct PostingCursor {
    private(set) var posting = Posting(key: 0, sequence: 0, tag: 0)
    private let table: PostingTable
    private var nextBlock = 0
    private var postings: [Posting] = []
    private var next = 0

    init(_ table: PostingTable) { self.table = table }

    /// Goes on to the next posting; false at the end.
    mutating func advance() throws(ViewDamage) -> Bool {
        if next == postings.count {
            postings.removeAll(keepingCapacity: true)
            var read = postings
            nextBlock += try table.read(blocksFrom: nextBlock) { read.append($0) }
            postings = read
            next = 0
            if postings.isEmpty { return false }
        }
        posting = postings[next]
        next += 1
        return true
    }
}
