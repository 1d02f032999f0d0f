package import EventLog

/// The file that says which runs make up a generation's index; replaced whole.
///
/// Layout: `ELI2`, the position (length u16, bytes), the number of runs u32, then for each its
/// number, first sequence, end (u64 each), root (32) and for both tables postings, keys, blocks and
/// filter words (u64 each), code of the first keys and of the filter (16 each); the code of all this.
package struct IndexManifest {
    package var position: ViewPosition
    package var runs: [IndexRun.Description]

    package static let fileName = "index"
    /// Runs of a generation: a few of each ``RunLevel``, and those that are joined no more.
    package static let runLimit = 1 << 16
    /// Bytes of the file.
    package static let byteLimit = 256 + runLimit * 256
    private static let magic: UInt32 = 0x3249_4C45

    /// The file's purpose under a ledger's seal.
    private static let purpose = "index"

    /// The bytes of the file.
    package func bytes(_ seal: ViewSeal) -> [UInt8] {
        var writer = ByteWriter(reservingCapacity: 256 + runs.count * 176)
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
        return seal.sealed(writer.bytes, Self.purpose)
    }

    package init(position: ViewPosition, runs: [IndexRun.Description]) {
        self.position = position
        self.runs = runs
    }

    /// Reads a manifest whose runs follow one another up to its position.
    package init(decoding bytes: Span<UInt8>, _ seal: ViewSeal) throws(DecodingFault) {
        guard bytes.count >= 4, bytes.uint32(at: 0) == Self.magic else {
            throw DecodingFault(what: "not an index of this version", offset: 0)
        }
        let end = try seal.contentCount(of: bytes, Self.purpose)
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
        writer.append(keysCode.bytes.span)
        writer.append(filterCode.bytes.span)
    }

    fileprivate init(_ bytes: Span<UInt8>, _ cursor: inout ByteCursor) throws(DecodingFault) {
        count = try cursor.uint64(bytes)
        keyCount = try cursor.uint64(bytes)
        blockCount = try cursor.uint64(bytes)
        filterWordCount = try cursor.uint64(bytes)
        keysCode = try Self.code(bytes, &cursor)
        filterCode = try Self.code(bytes, &cursor)
    }

    private static func code(
        _ bytes: Span<UInt8>,
        _ cursor: inout ByteCursor
    ) throws(DecodingFault) -> AuthenticationCode {
        let place = try cursor.bytes(bytes, count: AuthenticationCode.byteCount)
        return AuthenticationCode(bytes, at: place.lowerBound)
    }
}
