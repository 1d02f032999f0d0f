// The only unsafe code of this target: file calls that Foundation does not offer, each on a
// descriptor or buffer that lives for the call.

import FoundationEssentials
import Glibc

/// Small files that must stand whole on the disk, or not at all.
public enum DurableFile {
    /// What the name of a file that is being replaced ends with, until it is whole.
    public static let newSuffix = ".new"

    /// Replaces a file: writes a new one beside it, syncs, renames, syncs the directory.
    ///
    /// One that is not synced may be the old one, or empty, after a power cut.
    ///
    /// - Throws: `FileFault`.
    public static func replace(
        _ path: String,
        with bytes: [UInt8],
        mode: UInt32 = 0o600,
        isSynced: Bool = true
    ) throws {
        let temporary = path + newSuffix
        try write(bytes, to: temporary, mode: mode, isSynced: isSynced)
        try rename(temporary, to: path)
        if isSynced { try syncDirectory(of: path) }
    }

    /// Writes a new file; what stands at its path is lost at once.
    static func write(
        _ bytes: [UInt8],
        to path: String,
        mode: UInt32,
        isSynced: Bool = true
    ) throws {
        let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode)
        guard descriptor >= 0 else { throw FileFault(errno, "open") }
        do {
            try write(bytes, to: descriptor)
            guard !isSynced || fsync(descriptor) == 0 else { throw FileFault(errno, "fsync") }
        } catch {
            close(descriptor)
            throw error
        }
        close(descriptor)
    }

    /// Puts a file in the place of another, at once.
    static func rename(_ path: String, to new: String) throws {
        guard unsafe Glibc.rename(path, new) == 0 else { throw FileFault(errno, "rename") }
    }

    /// Makes an empty file whose name is on the disk; one that stands is left as it is.
    static func make(_ path: String) throws {
        let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw FileFault(errno, "open") }
        close(descriptor)
        try syncDirectory(of: path)
    }

    /// Removes a file if it is there; its name may come back after a power cut.
    static func remove(_ path: String) { unsafe _ = unlink(path) }

    static func exists(_ path: String) -> Bool { unsafe access(path, F_OK) == 0 }

    /// How long a regular file is; nil if there is none.
    static func byteCount(_ path: String) -> Int? {
        var status = stat()
        guard unsafe stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            return nil
        }
        return Int(status.st_size)
    }

    /// Makes the names in a file's directory durable.
    static func syncDirectory(of path: String) throws {
        let directory = String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)])
        let descriptor = unsafe open(directory.isEmpty ? "." : directory, O_RDONLY | O_DIRECTORY)
        guard descriptor >= 0 else { throw FileFault(errno, "open") }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw FileFault(errno, "fsync") }
    }

    /// Writes all bytes to a descriptor.
    static func write(_ bytes: [UInt8], to descriptor: Int32) throws {
        var written = 0
        while written < bytes.count {
            let count = unsafe bytes.withUnsafeBytes { buffer in
                unsafe Glibc.write(
                    descriptor,
                    buffer.baseAddress?.advanced(by: written),
                    bytes.count - written
                )
            }
            guard count > 0 else { throw FileFault(errno, "write") }
            written += count
        }
    }

    /// Puts other bytes in place of an open file's; a reader may see a part of them.
    static func overwrite(_ descriptor: Int32, with bytes: [UInt8]) throws {
        guard ftruncate(descriptor, 0) == 0, lseek(descriptor, 0, SEEK_SET) == 0 else {
            throw FileFault(errno, "ftruncate")
        }
        try write(bytes, to: descriptor)
    }

    /// Puts bytes in place of a file's at an offset, on the disk before it returns.
    static func overwrite(_ path: String, at offset: UInt64, with bytes: [UInt8]) throws {
        let descriptor = unsafe open(path, O_WRONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw FileFault(errno, "open") }
        defer { close(descriptor) }
        guard lseek(descriptor, off_t(clamping: offset), SEEK_SET) >= 0 else {
            throw FileFault(errno, "lseek")
        }
        try write(bytes, to: descriptor)
        guard fsync(descriptor) == 0 else { throw FileFault(errno, "fsync") }
    }

    /// Opens a file to append to it; made if it is not there.
    static func openForAppending(_ path: String) throws -> Int32 {
        let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw FileFault(errno, "open") }
        return descriptor
    }

    /// Opens a file to read it.
    static func openForReading(_ path: String) throws -> Int32 {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw FileFault(errno, "open") }
        return descriptor
    }

    /// Reads bytes from an offset on; fewer than asked for only at the end of the file.
    static func read(_ descriptor: Int32, at offset: UInt64, count: Int) throws -> [UInt8] {
        var fault: FileFault?
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            while filled < count {
                let read = unsafe pread(
                    descriptor,
                    buffer.baseAddress?.advanced(by: filled),
                    count - filled,
                    off_t(clamping: offset) + off_t(filled)
                )
                if read == 0 { return }
                guard read > 0 else {
                    if errno == EINTR { continue }
                    fault = FileFault(errno, "read")
                    return
                }
                filled += read
            }
        }
        if let fault { throw fault }
        return bytes
    }

    /// Takes a lock that goes with the open file description; nil if somebody else holds it.
    static func lock(_ path: String, isShared: Bool = false) throws -> Int32? {
        let descriptor = unsafe open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw FileFault(errno, "open") }
        if flock(descriptor, (isShared ? LOCK_SH : LOCK_EX) | LOCK_NB) == 0 { return descriptor }
        let reason = errno
        close(descriptor)
        guard reason == EWOULDBLOCK else { throw FileFault(reason, "flock") }
        return nil
    }

    /// Reads a whole file; nil if there is none.
    static func read(_ path: String) throws -> [UInt8]? {
        guard FileManager.default.fileExists(atPath: path) else { return nil }
        return Array(try Data(contentsOf: URL(filePath: path)))
    }
}

/// A file call that failed.
public struct FileFault: Error, Sendable {
    /// `errno`.
    public var code: Int32
    /// The call.
    public var operation: String

    init(_ code: Int32, _ operation: String) {
        self.code = code
        self.operation = operation
    }
}
