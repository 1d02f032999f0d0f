import EventLog

/// The file that says which runs make up a generation's index; replaced whole.
///
/// Layout: `ELI1`, the position (length u16, bytes), the number of runs u32, then for each its
/// number, first sequence, end (u64 each), root (32) and for both tables postings, keys, blocks and
/// filter words (u64 each), checksum of the first keys and of the filter (u32 each); CRC-32C.
struct IndexManifest: Equatable {
    var position: ViewPosition
    var runs: [IndexRun.Description]

    static let fileName = "index"
    /// Runs of a generation: their sizes grow geometrically up to ``IndexGeneration/mergeLimit``.
    static let runLimit = 1 << 16
    /// Bytes of the file.
    static let byteLimit = 256 + runLimit * 256
    private static let magic: UInt32 = 0x3149_4C45

    var encoded: [UInt8] {
        var writer = ByteWriter(reservingCapacity: 256 + runs.count * 144)
        writer.append(Self.magic)
        let position = position.encoded
        writer.append(UInt16(position.count))
        writer.append(position.span)
        writer.append(UInt32(runs.count))
        for run in runs {
            writer.append(run.number)
            writer.append(run.sequences.lowerBound)
            writer.append(run.sequences.upperBound)
            writer.append(run.root)
            run.streams.encode(into: &writer)
            run.signals.encode(into: &writer)
        }
        writer.append(CRC32C.checksum(writer.bytes.span))
        return writer.bytes
    }

    init(position: ViewPosition, runs: [IndexRun.Description]) {
        self.position = position
        self.runs = runs
    }

    /// Reads a manifest whose runs follow one another up to its position.
    init(decoding bytes: Span<UInt8>) throws(DecodingFault) {
        let end = bytes.count - 4  // Fits: a count is not negative.
        guard end >= 4, CRC32C.checksum(bytes.extracting(0..<end)) == bytes.uint32(at: end),
            bytes.uint32(at: 0) == Self.magic
        else { throw DecodingFault(what: "not an index of this version", offset: 0) }
        var cursor = ByteCursor(position: 4)
        let range = try cursor.bytes(bytes, count: Int(cursor.uint16(bytes)))
        position = try ViewPosition(decoding: bytes.extracting(range))
        runs = []
        var next: UInt64 = 0
        for _ in 0..<(try cursor.uint32(bytes)) {
            let run = try IndexRun.Description(bytes, &cursor, from: next)
            next = run.sequences.upperBound
            runs.append(run)
        }
        guard next == position.treeSize, cursor.position == end else {
            throw DecodingFault(what: "the runs do not reach the position", offset: end)
        }
    }
}

extension IndexRun.Description {
    fileprivate init(
        _ bytes: Span<UInt8>,
        _ cursor: inout ByteCursor,
        from first: UInt64
    ) throws(DecodingFault) {
        number = try cursor.uint64(bytes)
        let (start, end) = (try cursor.uint64(bytes), try cursor.uint64(bytes))
        guard start == first, start < end, end < Posting.sequenceLimit else {
            throw DecodingFault(what: "the runs have a gap", offset: cursor.position)
        }
        sequences = start..<end
        let root = try cursor.bytes(bytes, count: Digest.byteCount)
        self.root = Digest(bytes, at: root.lowerBound)
        streams = try PostingTable.Description(bytes, &cursor)
        signals = try PostingTable.Description(bytes, &cursor)
    }
}

extension PostingTable.Description {
    fileprivate func encode(into writer: inout ByteWriter) {
        for number in [count, keyCount, blockCount, filterWordCount] { writer.append(number) }
        writer.append(keysChecksum)
        writer.append(filterChecksum)
    }

    fileprivate init(_ bytes: Span<UInt8>, _ cursor: inout ByteCursor) throws(DecodingFault) {
        count = try cursor.uint64(bytes)
        keyCount = try cursor.uint64(bytes)
        blockCount = try cursor.uint64(bytes)
        filterWordCount = try cursor.uint64(bytes)
        keysChecksum = try cursor.uint32(bytes)
        filterChecksum = try cursor.uint32(bytes)
    }
}
