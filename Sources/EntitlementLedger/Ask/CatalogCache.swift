import Entitlements
import EventLog
import Synchronization

/// The catalogs of the log, read once.
final class CatalogCache: Sendable {
    private let log: any LogReader
    private let publications = Mutex<[UInt64: CatalogHistory.Publication]>([:])
    /// The last history that was asked for: mostly the next one, too.
    private let last = Mutex<(sequences: [UInt64], history: CatalogHistory)?>(nil)

    init(log: any LogReader) { self.log = log }

    /// The catalogs of a prefix.
    ///
    /// `sequences`: of the `catalog.published` of that prefix.
    func history(_ sequences: [UInt64]) throws -> CatalogHistory {
        if let last = last.withLock({ $0 }), last.sequences == sequences { return last.history }
        let history = try read(sequences)
        last.withLock { $0 = (sequences, history) }
        return history
    }

    private func read(_ sequences: [UInt64]) throws -> CatalogHistory {
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
