/// Reads an archive: files that somebody else may have written, changed or lost.
///
/// Nothing that it hands out is proven: compare with a verified checkpoint, or with the tiles.
package struct ArchiveReader: TileSource {
    let store: any ArchiveStore

    /// Reads from a place.
    package init(_ store: any ArchiveStore) {
        self.store = store
    }

    // MARK: Checkpoints

    /// The newest checkpoint as it stands, unverified; nil where there is no archive.
    package func note() throws -> SignedNote? {
        try note(at: ArchiveLayout.checkpoint)
    }

    /// The newest checkpoint, verified.
    ///
    /// - Throws: `ArchiveFault` where there is none, or none that the key signed.
    package func checkpoint(by key: VerifierKey) throws -> Checkpoint {
        guard let note = try note() else {
            throw ArchiveFault(.missing, "there is no checkpoint: this is no archive")
        }
        return try Self.verified(note, by: key)
    }

    /// The sizes of which older checkpoints are kept, ascending.
    package func checkpointSizes() throws -> [UInt64] {
        try store.names(in: ArchiveLayout.checkpoints).compactMap { UInt64($0) }.sorted()
    }

    /// A kept checkpoint, unverified; nil where there is none of that size.
    package func note(size: UInt64) throws -> SignedNote? {
        try note(at: ArchiveLayout.checkpoint(size: size))
    }

    /// A checkpoint that the archived log was restored to less than, unverified; nil: it was not.
    ///
    /// - Throws: `ArchiveFault.damaged` where the file cannot be read.
    package func published() throws -> SignedNote? {
        try note(at: ArchiveLayout.published)
    }

    package static func verified(_ note: SignedNote, by key: VerifierKey) throws -> Checkpoint {
        do {
            return try Checkpoint(note.verified(by: [key]))
        } catch {
            throw ArchiveFault(.notSigned, "a checkpoint is not signed by the log's key")
        }
    }

    private func note(at path: String) throws -> SignedNote? {
        guard let bytes = try store.read(path, limit: ArchiveLayout.noteLimit) else { return nil }
        guard let text = String(validating: bytes, as: UTF8.self),
            let note = try? SignedNote.parse(text)
        else { throw ArchiveFault(.damaged, "a checkpoint is not a signed note") }
        return note
    }

    /// What the ledger's manifest said; nil where the archive has none.
    package func manifest() throws -> [UInt8]? {
        try store.read(ArchiveLayout.manifest, limit: ArchiveLayout.manifestLimit)
    }

    /// What a salvage of the ledger lost beside records; nil: nothing that is known.
    ///
    /// - Throws: `ArchiveFault.damaged` where the file cannot be read.
    package func loss() throws -> KnownLoss? {
        guard let bytes = try store.read(ArchiveLayout.loss, limit: ArchiveLayout.lossLimit) else {
            return nil
        }
        guard let loss = KnownLoss(reading: bytes) else {
            throw ArchiveFault(.damaged, "its loss.json is not one")
        }
        return loss
    }

    // MARK: Tiles

    /// The widest tile that stands at a place; see `TileSource`.
    package func tile(level: Int, index: UInt64) throws -> [UInt8]? {
        let full = TileCoordinate(level: level, index: index).path
        return try widest(full, limit: ArchiveLayout.tileLimit)?.bytes
    }

    // MARK: Records

    /// The records of the widest bundle that stands at an index; nil where there is none.
    ///
    /// - Throws: `ArchiveFault.damaged` where lengths do not fit.
    package func records(ofBundle index: UInt64) throws -> [[UInt8]]? {
        guard
            let found = try widest(
                ArchiveLayout.entries(index),
                limit: ArchiveLayout.bundleLimit
            )
        else { return nil }
        return try Self.records(in: found.bytes.span, width: found.width, bundle: index)
    }

    /// The records of a bundle at a width, or the first of a wider one that stands in its place.
    ///
    /// - Throws: `ArchiveFault.damaged` where there are fewer, or lengths do not fit.
    func records(ofBundle index: UInt64, width: Int) throws -> [[UInt8]] {
        let path = ArchiveLayout.entries(index, width: width)
        let exact = try store.read(path, limit: ArchiveLayout.bundleLimit)
        let records =
            try exact.map { try Self.records(in: $0.span, width: width, bundle: index) }
            ?? records(ofBundle: index) ?? []
        guard records.count >= width else {
            let first = index * Bundle.recordCount + UInt64(records.count)
            throw ArchiveFault(.damaged, "the records are missing", sequence: first)
        }
        return Array(records.prefix(width))
    }

    private static func records(
        in bytes: Span<UInt8>,
        width: Int,
        bundle index: UInt64
    ) throws -> [[UInt8]] {
        var records: [[UInt8]] = []
        var start = 0
        while start < bytes.count {
            let sequence = index &* Bundle.recordCount &+ UInt64(records.count)
            guard records.count < width, bytes.count - start >= 2 else {
                throw ArchiveFault(.damaged, "a bundle's lengths do not fit", sequence: sequence)
            }
            let count = Int(bytes[start]) << 8 | Int(bytes[start + 1])
            guard count <= bytes.count - start - 2 else {
                throw ArchiveFault(.damaged, "a bundle's lengths do not fit", sequence: sequence)
            }
            records.append(bytes.copy(start + 2..<start + 2 + count))
            start += 2 + count
        }
        return records
    }

    // MARK: Beside the records

    /// Evidence and attachments of the records of a bundle, by their SHA-256.
    ///
    /// What is damaged is passed over: a record's header tells which it needs.
    package func attached(ofBundle index: UInt64) throws -> [Digest: [UInt8]] {
        guard
            let found = try widest(
                ArchiveLayout.attached(index),
                limit: ArchiveLayout.attachedFileLimit
            )
        else { return [:] }
        var attachedOfBundle: [Digest: [UInt8]] = [:]
        let bytes = found.bytes.span
        var start = 0
        while let range = AttachedBytes.next(in: bytes, from: start) {
            let attached = bytes.copy(range)
            attachedOfBundle[AttachedBytes.digest(of: attached.span)] = attached
            start = range.upperBound
        }
        return attachedOfBundle
    }

    /// The bytes kept for a shared part of evidence; nil where there is none.
    package func sharedPart(_ digest: Digest) throws -> [UInt8]? {
        try store.read(ArchiveLayout.shared(digest), limit: ArchiveLayout.attachedLimit)
    }

    /// The full file at a path, or the widest of its partial ones.
    private func widest(_ path: String, limit: Int) throws -> (bytes: [UInt8], width: Int)? {
        if let bytes = try store.read(path, limit: limit) {
            return (bytes, TileCoordinate.fullWidth)
        }
        let folder = path + ArchiveLayout.partial
        let widths = try store.names(in: folder).compactMap { Int($0) }
            .filter { (1..<TileCoordinate.fullWidth).contains($0) }
        guard let width = widths.max() else { return nil }
        return try store.read("\(folder)/\(width)", limit: limit).map { ($0, width) }
    }
}
