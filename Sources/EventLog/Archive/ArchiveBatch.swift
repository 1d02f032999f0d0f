/// Some bundles of a log on their way into an archive.
struct ArchiveBatch {
    /// The sequence of the first record, a multiple of 256.
    let first: UInt64
    /// The leaf hashes of the records.
    private(set) var leaves: [Digest] = []
    private var bundles: [[UInt8]] = []
    /// Of the records to which an evidence or attachment is attached.
    private var headers: [RecordHeader] = []
    private var byteCount = 0

    init(first: UInt64) { self.first = first }

    private var end: UInt64 { first + UInt64(leaves.count) }

    /// Reads whole bundles, and the partial one that ends the log at `size`.
    ///
    /// - Throws: `LogStorageFault.damaged` for a record whose hash is not the tree's.
    mutating func read(
        _ log: any LogReader,
        upTo size: UInt64,
        bundles limit: UInt64,
        byteLimit: Int
    ) throws {
        let last = min(size, first + limit * Bundle.recordCount)
        var carried: [RecordHeader] = []
        try log.readBlocks(from: first, upTo: last) { start, block in
            let count = try Bundle.count(block)
            for index in 0..<count where start + UInt64(index) == end && end < last {
                let record = block.extracting(
                    try Bundle.range(of: index, count: count, in: block)
                )
                if let header = take(record) { carried.append(header) }
            }
            // What records carry is read with them, so that a batch is no larger than it may be.
            for header in carried { byteCount += try log.attached(at: header.sequence)?.count ?? 0 }
            headers += carried
            carried = []
            return byteCount < byteLimit || !end.isMultiple(of: Bundle.recordCount)
        }
        try checkLeaves(log)
    }

    /// - Returns: the header of a record that carries something.
    private mutating func take(_ record: Span<UInt8>) -> RecordHeader? {
        if end.isMultiple(of: Bundle.recordCount) { bundles.append([]) }
        let last = bundles.count - 1
        bundles[last].append(UInt8(truncatingIfNeeded: record.count >> 8))
        bundles[last].append(UInt8(truncatingIfNeeded: record.count))
        bundles[last].append(copying: record)
        byteCount += record.count
        let sequence = end
        leaves.append(TreeHash.leaf(ofEntry: record))
        // An entry that is no record of ours carries nothing that we know of.
        guard let header = try? RecordHeader(reading: record), header.attached != .none,
            header.attachedAt == header.sequence, header.sequence == sequence
        else { return nil }
        return header
    }

    private func checkLeaves(_ log: any LogReader) throws {
        for start in stride(from: 0, to: leaves.count, by: Int(Bundle.recordCount)) {
            let index = (first + UInt64(start)) / Bundle.recordCount
            let tile = try log.tile(level: 0, index: index) ?? []
            for place in 0..<min(leaves.count - start, Int(Bundle.recordCount)) {
                let offset = place * Digest.byteCount
                guard tile.count >= offset + Digest.byteCount,
                    Digest(tile.span, at: offset) == leaves[start + place]
                else {
                    let sequence = first + UInt64(start + place)
                    throw LogStorageFault(.damaged, "record \(sequence) has not the tree's hash")
                }
            }
        }
    }

    /// The batch as files: bundles, what their records carry, and shared parts that are new.
    ///
    /// `archive`: as it stands, of a log that a salvage brought back without some of it: what that lacks
    /// is taken from here, or passed over; nil: nothing is known to be lost.
    ///
    /// - Throws: `LogStorageFault.damaged` where what a record carries is missing or altered.
    func files(
        _ log: any LogReader,
        lacking archive: ArchiveReader?,
        isNewPart: (Digest) throws -> Bool
    ) throws -> [ArchiveFile] {
        var files: [ArchiveFile] = []
        var attachedByBundle: [UInt64: [UInt8]] = [:]
        for header in headers {
            guard let attached = try attached(of: header, log, archive) else { continue }
            attachedByBundle[header.sequence / Bundle.recordCount, default: []] += attached
            guard header.attached == .evidence else { continue }
            for digest in try SealedEvidence.sharedParts(of: attached.span)
            where try isNewPart(digest) {
                guard let part = try log.sharedPart(digest) else {
                    if archive != nil { continue }
                    throw LogStorageFault(.damaged, "a shared part of evidence is missing")
                }
                files.append(ArchiveFile(path: ArchiveLayout.shared(digest), bytes: part))
            }
        }
        for (place, bytes) in bundles.enumerated() {
            let index = first / Bundle.recordCount + UInt64(place)
            let width = Int(min(end - index * Bundle.recordCount, Bundle.recordCount))
            let path = ArchiveLayout.entries(index, width: width)
            if let carried = attachedByBundle[index] {
                let path = ArchiveLayout.attached(index, width: width)
                files.append(ArchiveFile(path: path, bytes: carried))
            }
            files.append(ArchiveFile(path: path, bytes: bytes))
        }
        return files
    }

    /// What a record carries; nil: it is lost, and known to be.
    private func attached(
        of header: RecordHeader,
        _ log: any LogReader,
        _ archive: ArchiveReader?
    ) throws -> [UInt8]? {
        let own = try log.attached(at: header.sequence)
        if own == nil, let archive {
            let bundle = try archive.attached(ofBundle: header.sequence / Bundle.recordCount)
            return header.attachedDigest.flatMap { bundle[$0] }
        }
        guard let attached = own, AttachedBytes.digest(of: attached.span) == header.attachedDigest
        else {
            let what = "what record \(header.sequence) carries is missing or altered"
            throw LogStorageFault(.damaged, what)
        }
        return attached
    }
}
