import Entitlements
import EventLog

/// Reads the ids of transactions out of the log into the vault's table of them, behind whoever appends
/// (row 8.6; Storage, "Vault and erasure").
///
/// Appending waits for none of it: what is not read yet, a search looks for in the log.
package struct IdentifierFollower: Sendable {
    let questions: Questions
    /// nil for who only reads.
    let opened: (any Vault)?

    /// Records that are read in one go.
    static let batch: UInt64 = 1 << 14

    /// Reads on for one batch.
    ///
    /// Cost: the sealed part of each of its records that may hold an id, and one commit of the vault.
    ///
    /// - Returns: how many records are left; 0 for a ledger that is only read.
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
        let end = start + min(size - start, Self.batch)
        guard end > start else { return 0 }
        let held = try questions.heldIdentifiers(from: start, upTo: end)
        // Where an erasure or another search was faster, the next batch begins where it ended.
        try opened.add(held, from: start, upTo: end)
        return size - end
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
            guard header.stream != StreamNumber.catalog, try header.eventKind().holdsTransaction,
                // What does not open is damaged, which the audit says: the others are found all the same.
                let id = try? opener.id(.transactionID, of: record, header)
            else { return true }
            held.insert(HeldIdentifier(stream: header.stream, text: id))
            return true
        }
        return held
    }
}
