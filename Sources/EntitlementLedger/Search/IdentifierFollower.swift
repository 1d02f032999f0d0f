import Entitlements
import EventLog
import PostingIndex

/// Reads the ids of transactions out of the log into the vault's table of them, behind whoever appends
/// (row 8.6; Storage, "Vault and erasure").
///
/// Appending waits for none of it: what is not read yet, a search looks for in the log.
package struct IdentifierFollower: Sendable {
    let questions: Questions
    /// nil for who only reads.
    let opened: (any Vault)?

    /// Records that are read in one go, of a log that is not long; a search reads as many.
    static let batch: UInt64 = 1 << 14
    /// The same of a long one: each batch writes most of the table anew, however many it adds.
    private static let largestBatch: UInt64 = 1 << 17
    /// The part of what was read that is read in one go.
    private static let batchDivisor: UInt64 = 16

    /// Reads on for one batch; first what an erasure has made outdated.
    ///
    /// Cost: the sealed part of each of its records that may hold an id, and a few commits of the vault.
    ///
    /// - Returns: how many records are left, about; 0: none, or a ledger that is only read.
    /// - Throws: `LogStorageFault`.
    package func readOn() throws -> UInt64 {
        guard let opened else { return 0 }
        let size = try questions.size()
        let start = try opened.identifiersEnd()
        guard start <= size else {
            // A log that was cut: what is beyond is gone.
            try opened.removeIdentifiers()
            return size
        }
        let outdated = try readOutdated(below: start, into: opened)
        guard outdated == 0 else { return outdated + size - start }
        let batch = max(Self.batch, min(start / Self.batchDivisor, Self.largestBatch))
        let end = start + min(size - start, batch)
        guard end > start else { return 0 }
        let held = try questions.heldIdentifiers(from: start, upTo: end)
        // Where an erasure or another search was faster, the next batch begins where it ended.
        try opened.add(held, from: start, upTo: end)
        return size - end
    }

    /// Reads the ids again of shards that an erasure has emptied, as many as a batch holds.
    ///
    /// - Returns: how many shards are left.
    private func readOutdated(below end: UInt64, into opened: any Vault) throws -> UInt64 {
        let shards = try opened.outdatedShards()
        guard !shards.isEmpty else { return 0 }
        try questions.catchUpViews()
        var left = UInt64(shards.count)
        var read: UInt64 = 0
        for shard in shards where read < Self.batch {
            var held: Set<HeldIdentifier> = []
            for stream in try opened.streams(ofShard: shard) {
                let found = try questions.heldIdentifiers(of: stream, below: end)
                held.formUnion(found.held)
                read += found.read
            }
            try opened.add(held, ofOutdated: shard)
            left -= 1
        }
        return left
    }

    /// Forgets what was read, and reads the whole log.
    ///
    /// - Throws: `LogStorageFault`; what `progress` throws, which ends it: it goes on with ``readOn()``.
    package func readAnew(_ progress: () throws -> Void = {}) throws {
        guard let opened else { return }
        try opened.removeIdentifiers()
        while try readOn() > 0 { try progress() }
    }
}

extension Questions {
    /// The ids of transactions in the records of a range, each once for each stream that holds it.
    func heldIdentifiers(
        from start: UInt64,
        upTo end: UInt64
    ) throws -> Set<HeldIdentifier> {
        let opener = EventOpener(vault: vault, log: log)
        var held: Set<HeldIdentifier> = []
        try log.scan(from: start, upTo: end) { header, record in
            if let id = try opener.heldIdentifier(in: record, header) { held.insert(id) }
            return true
        }
        return held
    }

    /// The ids of transactions in a stream's records below a size that the views reach, and how many
    /// records were read for it.
    func heldIdentifiers(
        of stream: UInt64,
        below size: UInt64
    ) throws -> (held: Set<HeldIdentifier>, read: UInt64) {
        let opener = EventOpener(vault: vault, log: log)
        let sequences = try views.entries(of: stream, below: size).map(\.sequence)
        var held: Set<HeldIdentifier> = []
        try log.readRecords(sequences) { _, record in
            let header = try RecordHeader(checking: record)
            // It is listed under others that it names, too.
            guard header.stream == stream else { return }
            if let id = try opener.heldIdentifier(in: record, header) { held.insert(id) }
        }
        return (held, UInt64(sequences.count))
    }

    /// Has the views reach the log's end.
    func catchUpViews() throws {
        if try views.end < size() { try views.catchUp() }
    }
}

extension EventOpener {
    /// The id of a record's transaction; nil where it has none.
    fileprivate func heldIdentifier(
        in record: Span<UInt8>,
        _ header: RecordHeader
    ) throws -> HeldIdentifier? {
        guard header.stream != StreamNumber.catalog, try header.eventKind().holdsTransaction else {
            return nil
        }
        do {
            return try id(.transactionID, of: record, header).map {
                HeldIdentifier(stream: header.stream, text: $0)
            }
        } catch is DecodingFault {
            // What does not open is damaged, which the audit says: the others are found all the same.
            return nil
        } catch let fault as LogStorageFault where fault.code == .damaged {
            return nil
        }
    }
}
