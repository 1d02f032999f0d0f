import Glibc

extension LedgerDirectory {
    /// An empty file that stands while a process writes: one that is killed leaves it.
    static let uncleanName = "unclean"

    /// Whether the last writer ended without closing the ledger, and nobody writes now.
    ///
    /// Costs one look for a file where it was closed.
    public static func wasLeftUnclean(at path: String) -> Bool {
        guard DurableFile.exists(path + "/" + uncleanName) else { return false }
        // A running writer has looked for itself. Readers that ask at once share the lock.
        guard let lock = try? DurableFile.lock(path + "/" + lockName, isShared: true) else {
            return false
        }
        close(lock)
        return true
    }
}
