import DurableFiles
import Glibc

/// A second, append-only copy of the vault's entries: sealed alike, so that a damaged vault can be
/// read back.
///
/// Synced before the log forgets a new stream, at close and at erasure.
final class VaultJournal {
    private let descriptor: Int32
    private var isDirty = false

    static let fileName = "journal"

    init(path: String) throws {
        descriptor = try DurableFile.openForAppending(path)
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

    func sync() throws {
        guard isDirty else { return }
        guard fsync(descriptor) == 0 else { throw FileFault(errno, "fsync") }
        isDirty = false
    }

    deinit {
        fsync(descriptor)
        close(descriptor)
    }
}
