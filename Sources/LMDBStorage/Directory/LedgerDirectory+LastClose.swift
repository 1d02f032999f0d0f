import DurableFiles

extension LedgerDirectory {
    /// A file that stands while a process writes: one that is killed leaves it.
    ///
    /// Empty where commits wait for the disk; of a cluster's copy, which start of the machine it was.
    static let uncleanName = "unclean"

    /// Notes, durably, that a process writes.
    static func markUnclean(at path: String, bootID: String?) throws {
        let place = path + "/" + uncleanName
        guard let bootID else { return try DurableFile.make(place) }
        try DurableFile.replace(place, with: Array(bootID.utf8))
    }

    /// Whether a copy that did not wait for the disk was left open by an earlier start of the machine: nothing of
    /// its files is to be read.
    package static func isTorn(at path: String, bootID: String?) -> Bool {
        // What cannot be read was never such a mark.
        guard let mark = try? DurableFile.read(path + "/" + uncleanName), !mark.isEmpty else {
            return false
        }
        return !mark.elementsEqual((bootID ?? "").utf8)
    }

    /// Whether the last writer ended without closing the ledger, and nobody writes now.
    ///
    /// Costs one look for a file where it was closed.
    package static func wasLeftUnclean(at path: String) -> Bool {
        guard DurableFile.exists(path + "/" + uncleanName) else { return false }
        // A running writer has looked for itself. Readers that ask at once share the lock.
        return WriterLock.isHeld(at: path) == false
    }

    /// Whether an erasure was begun that is not finished: what it destroys may stand yet (Z6).
    package static func isErasing(at path: String) -> Bool {
        DurableFile.exists(path + "/" + vaultName + "/" + ErasureNote.fileName)
    }

    /// Whether a process writes now; nil: nobody can tell.
    package static func isBeingWritten(at path: String) -> Bool? { WriterLock.isHeld(at: path) }

    /// The log's size when a writer last closed it, in decimal digits.
    static let closedName = "closed"

    /// Notes the log's size at its end, for ``closedSize(at:)``; not synced, for a smaller one that
    /// stands does no harm.
    static func noteClosed(_ size: UInt64, at path: String) {
        // A size that cannot be read is written anew.
        guard (try? closedSize(at: path)) != size else { return }
        // Where the disk takes nothing an earlier size stays, which does no harm.
        try? DurableFile.replace(
            path + "/" + closedName,
            with: Array("\(size)\n".utf8),
            isSynced: false
        )
    }

    /// What the log held at least when it was closed; nil where nobody said so.
    ///
    /// Older pages in the place of newer ones may make a shorter log that is sound in itself.
    ///
    /// - Throws: `FileFault`, `CocoaError` where what was said cannot be read.
    static func closedSize(at path: String) throws -> UInt64? {
        guard let bytes = try DurableFile.read(path + "/" + closedName) else { return nil }
        return UInt64(String(decoding: bytes.prefix { $0 != 0x0A }, as: UTF8.self))
    }
}
