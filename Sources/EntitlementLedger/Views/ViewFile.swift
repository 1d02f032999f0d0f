// The only unsafe code of the views: file calls that Foundation does not offer, each on a buffer
// that lives for the call.

import EventLog
import FoundationEssentials
import Glibc

/// A file that is written from its start and read by place.
///
/// Never mapped: one that is cut short or unreadable is a fault, not the end of its reader.
final class ViewFile: Sendable {
    private let descriptor: Int32

    private init(_ descriptor: Int32) { self.descriptor = descriptor }

    deinit { close(descriptor) }

    /// Makes an empty file, in place of one that stands there.
    static func create(_ path: String) throws(LogStorageFault) -> ViewFile {
        let descriptor = unsafe Glibc.open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw LogStorageFault(viewError: errno) }
        return ViewFile(descriptor)
    }

    /// Makes a temporary file that has no name and goes with its last user.
    static func createUnnamed() throws(LogStorageFault) -> ViewFile {
        let directory = FileManager.default.temporaryDirectory.path
        var path = Array((directory + "/entitle-views-XXXXXX").utf8CString)
        let descriptor = unsafe path.withUnsafeMutableBufferPointer { buffer -> Int32 in
            guard let name = buffer.baseAddress else { return -1 }
            let descriptor = unsafe mkstemp(name)
            if descriptor >= 0 { unsafe unlink(name) }
            return descriptor
        }
        guard descriptor >= 0 else { throw LogStorageFault(viewError: errno) }
        return ViewFile(descriptor)
    }

    /// Opens a file to be read.
    ///
    /// - Throws: `ViewDamage` if it cannot be opened.
    static func open(_ path: String) throws(ViewDamage) -> ViewFile {
        let descriptor = unsafe Glibc.open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw ViewDamage("a file of the views is missing") }
        return ViewFile(descriptor)
    }

    /// The whole content of a file, if it has at most so many bytes.
    ///
    /// - Throws: `ViewDamage` if it cannot be read.
    static func content(_ path: String, limit: Int) throws(ViewDamage) -> [UInt8] {
        let file = try open(path)
        let count = file.count
        guard count <= limit else { throw ViewDamage("a file of the views is too long") }
        return try file.read(at: 0, count: count)
    }

    /// Bytes of the file; 0 if nobody can tell.
    var count: Int {
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else { return 0 }
        return Int(status.st_size)
    }

    /// Reads bytes at a place.
    ///
    /// - Throws: `ViewDamage` if they are not all there.
    func read(at offset: Int, count: Int) throws(ViewDamage) -> [UInt8] {
        var filled = 0
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
            while filled < count {
                let part = unsafe pread(
                    descriptor,
                    buffer.baseAddress?.advanced(by: filled),
                    count - filled,
                    off_t(offset + filled)
                )
                guard part > 0 else { break }
                filled += part
            }
            initialized = filled
        }
        guard filled == count else { throw ViewDamage("a file of the views ends too early") }
        return bytes
    }

    /// Writes bytes behind those that were written.
    func append(_ bytes: Span<UInt8>) throws(LogStorageFault) {
        var written = 0
        while written < bytes.count {
            let part = unsafe bytes.withUnsafeBytes { buffer in
                unsafe Glibc.write(
                    descriptor,
                    buffer.baseAddress?.advanced(by: written),
                    buffer.count - written
                )
            }
            guard part > 0 else { throw LogStorageFault(viewError: errno) }
            written += part
        }
    }

    /// Waits until the file is on the disk.
    func sync() throws(LogStorageFault) {
        guard fsync(descriptor) == 0 else { throw LogStorageFault(viewError: errno) }
    }

    /// Puts a whole small file in place of another one, at once.
    ///
    /// `isDurable`: whether it, and the names in its directory, are on the disk then.
    static func replace(
        _ path: String,
        with content: [UInt8],
        isDurable: Bool
    ) throws(LogStorageFault) {
        let new = path + ".new"
        let file = try create(new)
        try file.append(content.span)
        if isDurable { try file.sync() }
        guard unsafe rename(new, path) == 0 else { throw LogStorageFault(viewError: errno) }
        guard isDurable, let slash = path.lastIndex(of: "/") else { return }
        let directory = unsafe Glibc.open(
            String(path[..<slash]),
            O_RDONLY | O_DIRECTORY | O_CLOEXEC
        )
        guard directory >= 0 else { throw LogStorageFault(viewError: errno) }
        try ViewFile(directory).sync()
    }
}

/// Bytes of the views that are not what was written, or cannot be read: the views are discarded.
struct ViewDamage: Error {
    /// A sentence for people; holds no path and no id.
    var what: String

    init(_ what: String) { self.what = what }
}

extension LogStorageFault {
    /// A file of the views that cannot be written.
    fileprivate init(viewError code: Int32) {
        let isFull = code == ENOSPC || code == EDQUOT
        self.init(isFull ? .full : .unreadable, "the views cannot be written (error \(code))")
    }
}
