import DurableFiles
import Glibc

extension LedgerDirectory {
    /// Changes a small file that stands beside log and vault, such as one of keys or settings.
    ///
    /// The body reads the file as it is and returns its new bytes. Changes of one file come one
    /// after the other, whoever makes them, and whoever holds the ledger's writer lock. The new file
    /// is on the disk when the call returns, readable by its owner only; readers see the old one or
    /// the new one whole.
    /// - Throws: `LedgerOpenFault` where there is no ledger or another process is at it, `FileFault`,
    ///   and what the body throws: then nothing is changed.
    package static func change(
        _ name: String,
        at path: String,
        _ body: () throws -> [UInt8]
    ) throws {
        _ = try manifest(at: path)
        let file = path + "/" + name
        let lock = try takeLock(file + lockSuffix)
        defer { close(lock) }
        try DurableFile.replace(file, with: try body())
    }

    /// Takes the lock file of a small file for the moments of its change.
    ///
    /// - Throws: `LedgerOpenFault.locked`, `FileFault`.
    static func takeLock(_ path: String) throws -> Int32 {
        guard let lock = try DurableFile.whenFree({ try DurableFile.lock(path) }) else {
            throw LedgerOpenFault(.locked, "another process changes the same file")
        }
        return lock
    }

    /// What the name of a small file's lock file ends with.
    static let lockSuffix = ".lock"
}
