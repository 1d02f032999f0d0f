// Unsafe: file calls that Foundation does not offer, each on a name or a local structure that lives
// for the call; the name that mkstemp(3) changes is a copy.

import FoundationEssentials
import Glibc

/// A file that is written from its start and read by place.
///
/// Never mapped: one that is cut short or unreadable is a fault, not the end of its reader.
package final class BlockFile: Sendable {
    private let descriptor: Int32

    private init(_ descriptor: Int32) { self.descriptor = descriptor }

    deinit { close(descriptor) }

    /// Makes an empty file, in place of one that stands there.
    package static func create(_ path: String) throws(FileFault) -> BlockFile {
        let descriptor = unsafe Glibc.open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw FileFault(errno, "open") }
        return BlockFile(descriptor)
    }

    /// Makes a temporary file that has no name and goes with its last user.
    ///
    /// `purpose`: what its name begins with for the moment that it has one.
    package static func createUnnamed(_ purpose: String) throws(FileFault) -> BlockFile {
        let directory = FileManager.default.temporaryDirectory.path
        var path = Array("\(directory)/\(purpose)-XXXXXX".utf8CString)
        let descriptor = unsafe path.withUnsafeMutableBufferPointer { buffer -> Int32 in
            guard let name = buffer.baseAddress else { return -1 }
            let descriptor = unsafe mkstemp(name)
            if descriptor >= 0 { unsafe unlink(name) }
            return descriptor
        }
        guard descriptor >= 0 else { throw FileFault(errno, "mkstemp") }
        return BlockFile(descriptor)
    }

    /// Opens a file to be read; nil where it cannot be.
    package static func open(_ path: String) -> BlockFile? {
        let descriptor = unsafe Glibc.open(path, O_RDONLY | O_CLOEXEC)
        return descriptor >= 0 ? BlockFile(descriptor) : nil
    }

    /// Bytes of the file; 0 if nobody can tell.
    package var count: Int {
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else { return 0 }
        return Int(status.st_size)
    }

    /// Reads bytes at a place; nil if they are not all there.
    package func read(at offset: Int, count: Int) -> [UInt8]? {
        guard let offset = UInt64(exactly: offset) else { return nil }
        // A place that cannot be read counts as one that is not there.
        let bytes = try? DurableFile.read(descriptor, at: offset, count: count)
        return bytes?.count == count ? bytes : nil
    }

    /// Writes bytes behind those that were written.
    package func append(_ bytes: Span<UInt8>) throws(FileFault) {
        try DurableFile.write(bytes, to: descriptor)
    }

    /// Waits until the file is on the disk.
    package func sync() throws(FileFault) {
        guard fsync(descriptor) == 0 else { throw FileFault(errno, "fsync") }
    }
}
