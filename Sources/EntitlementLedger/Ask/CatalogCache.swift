import Entitlements
import EventLog
import PostingIndex
import Synchronization

/// The catalogs of the log, read once.
final class CatalogCache: Sendable {
    private let log: any LogReader
    private let publications = Mutex<[UInt64: CatalogHistory.Publication]>([:])
    /// The last history that was asked for: mostly the next one, too.
    private let last = Mutex<Prefix?>(nil)

    /// The catalogs of a prefix of the log.
    private struct Prefix {
        var size: UInt64
        /// Of its `catalog.published`, ascending.
        var sequences: [UInt64]
        var history: CatalogHistory
    }

    init(log: any LogReader) { self.log = log }

    /// The catalogs of a prefix, which the views reach.
    ///
    /// Cost: as a rule no read; else one of each catalog that was not read before.
    func history(size: UInt64, in views: Views) throws -> CatalogHistory {
        let last = last.withLock { $0 }
        if let last {
            if size == last.size { return last.history }
            let holdsAll = last.sequences.last.map { $0 < size } ?? true
            if holdsAll, try views.isUnmoved(StreamNumber.catalog, since: last.size) {
                return keep(last.history, of: last.sequences, size)
            }
        }
        let sequences = try views.entries(of: StreamNumber.catalog, below: size).map(\.sequence)
        if let last, last.sequences == sequences { return keep(last.history, of: sequences, size) }
        return keep(try history(of: sequences), of: sequences, size)
    }

    private func keep(
        _ history: CatalogHistory,
        of sequences: [UInt64],
        _ size: UInt64
    ) -> CatalogHistory {
        last.withLock { $0 = Prefix(size: size, sequences: sequences, history: history) }
        return history
    }

    /// The catalogs that were published at some sequences, ascending.
    func history(of sequences: [UInt64]) throws -> CatalogHistory {
        let missing = publications.withLock { known in sequences.filter { known[$0] == nil } }
        var read: [UInt64: CatalogHistory.Publication] = [:]
        try log.readRecords(missing) { sequence, record in
            read[sequence] = try publication(record)
        }
        return publications.withLock { known in
            known.merge(read) { old, _ in old }
            return CatalogHistory(sequences.compactMap { known[$0] })
        }
    }

    private func publication(_ record: Span<UInt8>) throws -> CatalogHistory.Publication {
        let header = try RecordHeader(checking: record)
        guard let attached = try log.attached(at: header.attachedAt),
            header.attachedDigest == TreeHash.attached(attached.span)
        else { throw LogStorageFault(.damaged, "the catalog of \(header.sequence) differs") }
        do {
            return CatalogHistory.Publication(
                time: Instant(milliseconds: header.time),
                sequence: header.sequence,
                catalog: try Catalog(recorded: Attachment.document(attached))
            )
        } catch is InputFault {
            throw LogStorageFault(
                .damaged,
                "the catalog of \(header.sequence) is not one that this version reads"
            )
        }
    }
}
