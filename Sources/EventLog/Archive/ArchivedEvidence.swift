/// Deletes evidence from an archive, where an erasure asks for it.
///
/// The tree and the records stay as they are: what stands for an evidence says whose place it is.
package struct ArchivedEvidence {
    private let store: any ArchiveStore

    /// Changes the archive at a place.
    package init(_ store: any ArchiveStore) { self.store = store }

    /// Deletes the evidence that these records carry; what the archive does not hold is passed over.
    ///
    /// Cost: the bundles that hold one of them are read, and written again.
    ///
    /// - Throws: `ArchiveFault` where a bundle, or one of these records, is damaged; what the store throws.
    package func erase(_ sequences: [UInt64]) throws {
        let bundles = Dictionary(grouping: sequences) { $0 / Bundle.recordCount }
        for (bundle, sequences) in bundles.sorted(by: { $0.key < $1.key }) {
            let digests = try digests(of: sequences, bundle)
            guard !digests.isEmpty else { continue }
            for path in try files(of: bundle) { try erase(digests, in: path) }
        }
    }

    private func digests(of sequences: [UInt64], _ bundle: UInt64) throws -> Set<Digest> {
        guard let records = try ArchiveReader(store).records(ofBundle: bundle) else { return [] }
        var digests: Set<Digest> = []
        for sequence in sequences {
            let place = Int(sequence % Bundle.recordCount)
            guard records.indices.contains(place) else { continue }
            let record = records[place]
            // A gap carries nothing.
            guard !LostRecord.isOne(record.span) else { continue }
            do {
                if let digest = try RecordHeader(reading: record.span).attachedDigest {
                    digests.insert(digest)
                }
            } catch {
                throw ArchiveFault(.damaged, "a record cannot be read", sequence: sequence)
            }
        }
        return digests
    }

    /// The full file of a bundle's evidences, and the partial ones.
    private func files(of bundle: UInt64) throws -> [String] {
        let full = ArchiveLayout.attached(bundle)
        let partial = full + ArchiveLayout.partial
        return try [full] + store.names(in: partial).map { partial + "/" + $0 }
    }

    private func erase(_ digests: Set<Digest>, in path: String) throws {
        guard let bytes = try store.read(path, limit: ArchiveLayout.attachedFileLimit) else {
            return
        }
        var changed = bytes
        var start = 0
        while let range = AttachedBytes.next(in: bytes.span, from: start) {
            let attached = bytes.span.extracting(range)
            if digests.contains(TreeHash.attached(attached)) {
                changed.replaceSubrange(range, with: ErasedEvidence.bytes(for: attached))
            }
            start = range.upperBound
        }
        guard changed != bytes else { return }
        try store.write([ArchiveFile(path: path, bytes: changed)])
    }
}
