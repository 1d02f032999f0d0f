import DurableFiles

extension LedgerDirectory {
    /// An empty file that stands while a process writes: one that is killed leaves it.
    static let uncleanName = "unclean"

    /// Whether the last writer ended without closing the ledger, and nobody writes now.
    ///
    /// Costs one look for a file where it was closed.
    package static func wasLeftUnclean(at path: String) -> Bool {
        guard DurableFile.exists(path + "/" + uncleanName) else { return false }
        // A running writer has looked for itself. Readers that ask at once share the lock.
        return WriterLock.isHeld(at: path) == false
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
