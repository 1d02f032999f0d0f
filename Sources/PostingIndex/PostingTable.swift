package import EventLog
import Synchronization

/// An index of a range of the log that never changes: postings in their order, in blocks that are
/// checked when they are read.
///
/// File: blocks (`PostingBlock`), then the first key of each block (u64), then the words of the
/// key filter (u64). What ties these together stands in its description.
package final class PostingTable: Sendable {
    package let description: Description
    private let file: ViewFile
    private let keys: Keys
    private let firstSequence: UInt64
    /// The first key of each block.
    private let firstKeys: [UInt64]
    /// Read when it is first asked.
    private let filter = Mutex<KeyFilter?>(nil)

    /// What a file is expected to be.
    package struct Description: Sendable {
        /// Postings.
        package var count: UInt64 = 0
        /// Keys, each counted once, or a little more.
        var keyCount: UInt64 = 0
        var blockCount: UInt64 = 0
        var filterWordCount: UInt64 = 0
        /// The code of the first keys.
        var keysCode = AuthenticationCode()
        /// The code of the filter.
        var filterCode = AuthenticationCode()

        fileprivate var keysOffset: Int { Int(blockCount) * PostingBlock.byteCount }
        fileprivate var filterOffset: Int { keysOffset + Int(blockCount) * 8 }
        fileprivate var fileByteCount: Int { filterOffset + Int(filterWordCount) * 8 }
        /// Beyond it, a description is not one: offsets stay far below 2^63.
        fileprivate static let limit: UInt64 = 1 << 40
        fileprivate var isPossible: Bool {
            [count, keyCount, blockCount, filterWordCount].allSatisfy { $0 < Self.limit }
                && filterWordCount > 0
        }
    }

    /// Under what the parts of one file are written.
    package struct Keys {
        package let blocks, firstKeys, filter: KeyedHash
    }

    /// Opens a table.
    ///
    /// - Throws: `ViewDamage`.
    package init(
        _ file: ViewFile,
        _ description: Description,
        keys: Keys,
        firstSequence: UInt64
    ) throws(ViewDamage) {
        guard description.isPossible, file.count == description.fileByteCount else {
            throw ViewDamage("a table of the views has another length")
        }
        self.file = file
        self.description = description
        self.keys = keys
        self.firstSequence = firstSequence
        firstKeys = try file.words(
            at: description.keysOffset,
            count: Int(description.blockCount),
            description.keysCode,
            under: keys.firstKeys
        )
    }

    package func sync() throws { try file.sync() }

    // MARK: Reading

    /// Hands out the postings of a key, ascending.
    ///
    /// Cost: one read of a block, for a key that has not more.
    package func read(_ key: UInt64, _ body: (Posting) -> Void) throws {
        guard try mayContain(key) else { return }
        var block = max(0, firstKeys.count { $0 < key } - 1)
        while block < firstKeys.count, firstKeys[block] <= key {
            try read(block: block) { if $0.key == key { body($0) } }
            block += 1
        }
    }

    /// The last posting of a key; nil if there is none.
    package func last(of key: UInt64) throws -> Posting? {
        guard try mayContain(key) else { return nil }
        let block = firstKeys.count { $0 <= key } - 1
        guard block >= 0 else { return nil }
        var last: Posting?
        try read(block: block) { if $0.key == key { last = $0 } }
        return last
    }

    private func mayContain(_ key: UInt64) throws -> Bool {
        if let known = filter.withLock({ $0?.mayContain(key) }) { return known }
        let read = try readFilter()
        return filter.withLock { filter in
            filter = read
            return read.mayContain(key)
        }
    }

    /// Reads the filter as the file has it.
    package func readFilter() throws(ViewDamage) -> KeyFilter {
        KeyFilter(
            words: try file.words(
                at: description.filterOffset,
                count: Int(description.filterWordCount),
                description.filterCode,
                under: keys.filter
            )
        )
    }

    private func read(block number: Int, _ body: (Posting) -> Void) throws(ViewDamage) {
        let bytes = try file.read(
            at: number * PostingBlock.byteCount,
            count: PostingBlock.byteCount
        )
        try PostingBlock.read(
            bytes.span,
            keys.blocks,
            number: number,
            firstSequence: firstSequence,
            body
        )
    }

    /// Blocks that a scan reads at once.
    private static let blocksPerRead = 64

    /// Hands out the postings of some blocks from a number on; how many blocks these were.
    package func read(
        blocksFrom number: Int,
        _ body: (Posting) -> Void
    ) throws(ViewDamage) -> Int {
        let count = min(Self.blocksPerRead, firstKeys.count - number)
        guard count > 0 else { return 0 }
        let bytes = try file.read(
            at: number * PostingBlock.byteCount,
            count: count * PostingBlock.byteCount
        )
        for place in 0..<count {
            let start = place * PostingBlock.byteCount
            try PostingBlock.read(
                bytes.span.extracting(start..<start + PostingBlock.byteCount),
                keys.blocks,
                number: number + place,
                firstSequence: firstSequence,
                body
            )
        }
        return count
    }
}

extension [UInt64] {
    /// How many of the first elements meet a condition that none behind them meets.
    ///
    /// Binary search.
    fileprivate func count(_ isBefore: (UInt64) -> Bool) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if isBefore(self[middle]) { low = middle + 1 } else { high = middle }
        }
        return low
    }
}

extension ViewFile {
    fileprivate func words(
        at offset: Int,
        count: Int,
        _ code: AuthenticationCode,
        under key: KeyedHash
    ) throws(ViewDamage) -> [UInt64] {
        let bytes = try read(at: offset, count: count * 8)
        guard AuthenticationCode(of: bytes.span, under: key).matches(code) else {
            throw ViewDamage("a table of the views is not what this ledger wrote")
        }
        let span = bytes.span
        var words: [UInt64] = []
        words.reserveCapacity(count)
        for place in 0..<count { words.append(span.uint64(at: place * 8)) }
        return words
    }
}
