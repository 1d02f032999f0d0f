import DurableFiles
import Glibc

/// A second, append-only copy of the vault's entries: sealed alike, so that a damaged vault can be
/// read back.
///
/// Synced each second, at close and at erasure; the vault itself is durable at each commit.
final class VaultJournal {
    private let descriptor: Int32
    private var syncedAt: Int64 = 0
    private var isDirty = false

    static let fileName = "journal"
    private static let syncIntervalSeconds: Int64 = 1

    init(path: String) throws {
        descriptor = try DurableFile.openForAppending(path)
    }

    /// Appends items; synced a second after the last time at the latest that something is appended.
    func append(_ items: [[UInt8]], nowSeconds: Int64) throws {
        try append(items)
        if nowSeconds >= syncedAt + Self.syncIntervalSeconds { try sync(nowSeconds: nowSeconds) }
    }

    /// Appends items that wait for `sync`.
    func append(_ items: [[UInt8]]) throws {
        let end = byteCount
        do {
            try DurableFile.write(Array(items.joined()), to: descriptor)
        } catch {
            // What did not fit leaves no torn entry behind.
            ftruncate(descriptor, off_t(end))
            throw error
        }
        isDirty = true
    }

    /// Bytes of the file.
    var byteCount: Int { Int(lseek(descriptor, 0, SEEK_END)) }

    func sync(nowSeconds: Int64) throws {
        guard isDirty else { return }
        guard fsync(descriptor) == 0 else { throw FileFault(errno, "fsync") }
        isDirty = false
        syncedAt = nowSeconds
    }

    deinit {
        fsync(descriptor)
        close(descriptor)
    }
}
