// Unsafe: file calls that Foundation does not offer, each on a name, a local structure or a buffer
// that lives for the call and is passed with its length.

import FoundationEssentials
import Glibc

/// Small files that must stand whole on the disk, or not at all.
package enum DurableFile {
    /// What the name of a file that is being replaced ends with, until it is whole.
    package static let newSuffix = ".new"

    /// Replaces a file: writes a new one beside it, syncs, renames, syncs the directory.
    ///
    /// What stands at its path decides as for `FileOutput`. One that is not synced may be the old
    /// one, or empty, after a power cut.
    ///
    /// - Throws: `FileFault`.
    package static func replace(
        _ path: String,
        with bytes: [UInt8],
        mode: UInt32 = 0o600,
        isSynced: Bool = true
    ) throws {
        let output = try FileOutput(path, mode: mode, suffix: newSuffix)
        try output.write(bytes)
        try output.close(isSynced: isSynced)
    }

    /// Makes a file where nothing stands, not even a link.
    ///
    /// - Throws: `FileFault`; `EEXIST` where something stands.
    package static func create(
        _ path: String,
        with bytes: [UInt8],
        mode: UInt32 = 0o600
    ) throws {
        let descriptor = try openNew(path, mode: mode)
        defer { close(descriptor) }
        try write(bytes, to: descriptor)
        guard fsync(descriptor) == 0 else { throw FileFault(errno, "fsync") }
    }

    /// Opens a file that is made for it, where nothing stands.
    static func openNew(_ path: String, mode: UInt32) throws -> Int32 {
        let flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC
        let descriptor = unsafe open(path, flags, mode)
        guard descriptor >= 0 else { throw FileFault(errno, "open") }
        return descriptor
    }

    /// Opens what stands at a path to write to it, as it is: a device or a pipe.
    static func openStanding(_ path: String) throws -> Int32 {
        let descriptor = unsafe open(path, O_WRONLY | O_NOCTTY | O_CLOEXEC)
        guard descriptor >= 0 else { throw FileFault(errno, "open") }
        return descriptor
    }

    /// Puts a file in the place of another, or of none, at once; of nothing else.
    ///
    /// - Throws: `FileFault`; `EEXIST` where a device or a pipe stands.
    package static func rename(_ path: String, to new: String) throws {
        guard case .file(let target) = try FilePlace(of: new) else {
            throw FileFault(EEXIST, "rename")
        }
        guard unsafe Glibc.rename(path, target) == 0 else { throw FileFault(errno, "rename") }
    }

    /// Makes an empty file whose name is on the disk; one that stands is left as it is.
    package static func make(_ path: String) throws {
        let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw FileFault(errno, "open") }
        giveToOwner(ofFolderOf: path, descriptor)
        close(descriptor)
        try syncDirectory(of: path)
    }

    /// Removes a file if it is there; its name may come back after a power cut.
    package static func remove(_ path: String) { unsafe _ = unlink(path) }

    /// Whether something stands at a path.
    package static func exists(_ path: String) -> Bool { unsafe access(path, F_OK) == 0 }

    /// How long a regular file is; nil if there is none.
    ///
    /// - Throws: `FileFault` where the system does not tell.
    package static func byteCount(_ path: String) throws -> Int? {
        guard let status = try status(path, followsLinks: true), status.kind == .file else {
            return nil
        }
        return status.byteCount
    }

    /// Whether a regular file stands at a path; no link to one.
    package static func isFile(_ path: String) -> Bool {
        // A name that the system does not follow is no file to whoever asks.
        (try? status(path, followsLinks: false))?.kind == .file
    }

    /// What stands at a path; nil: nothing.
    ///
    /// - Throws: `FileFault` where the system does not tell, or does not follow the link.
    package static func status(_ path: String, followsLinks: Bool) throws -> FileStatus? {
        var status = stat()
        let code = followsLinks ? unsafe stat(path, &status) : unsafe lstat(path, &status)
        guard code == 0 else {
            // Below a file nothing stands, as in a folder that is not there.
            guard errno == ENOENT || errno == ENOTDIR else { throw FileFault(errno, "stat") }
            return nil
        }
        return FileStatus(status)
    }

    /// Makes the names in a file's directory durable.
    package static func syncDirectory(of path: String) throws {
        let directory = folder(of: path) ?? "."
        let descriptor = unsafe open(directory.isEmpty ? "/" : directory, O_RDONLY | O_DIRECTORY)
        guard descriptor >= 0 else { throw FileFault(errno, "open") }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw FileFault(errno, "fsync") }
    }

    /// Makes a directory's own name durable.
    ///
    /// In somebody else's directory, which may not be read, the name was there before, or goes to the disk in
    /// the file system's own time.
    package static func syncName(ofDirectory path: String) throws {
        do {
            try syncDirectory(of: path + "/../")
        } catch let fault as FileFault where fault.operation == "open" {
        }
    }

    /// Writes all bytes to a descriptor.
    package static func write(_ bytes: [UInt8], to descriptor: Int32) throws {
        try write(bytes.span, to: descriptor)
    }

    /// Writes all bytes to a descriptor.
    static func write(_ bytes: Span<UInt8>, to descriptor: Int32) throws(FileFault) {
        var written = 0
        while written < bytes.count {
            let count = unsafe bytes.withUnsafeBytes { buffer in
                unsafe Glibc.write(
                    descriptor,
                    buffer.baseAddress?.advanced(by: written),
                    buffer.count - written
                )
            }
            guard count > 0 else { throw FileFault(errno, "write") }
            written += count
        }
    }

    /// Puts bytes in place of a file's at an offset, on the disk before it returns.
    package static func overwrite(_ path: String, at offset: UInt64, with bytes: [UInt8]) throws {
        try overwriting(path) { put in try put(offset, bytes) }
    }

    /// Puts bytes in place of a file's at some offsets, all of them on the disk before it returns.
    package static func overwriting(
        _ path: String,
        _ body: (_ put: (_ offset: UInt64, _ bytes: [UInt8]) throws -> Void) throws -> Void
    ) throws {
        let descriptor = unsafe open(path, O_WRONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw FileFault(errno, "open") }
        defer { close(descriptor) }
        try body { offset, bytes in
            guard lseek(descriptor, off_t(clamping: offset), SEEK_SET) >= 0 else {
                throw FileFault(errno, "lseek")
            }
            try write(bytes, to: descriptor)
        }
        guard fsync(descriptor) == 0 else { throw FileFault(errno, "fsync") }
    }

    /// Opens a file to append to it; made if it is not there.
    package static func openForAppending(_ path: String) throws -> Int32 {
        let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw FileFault(errno, "open") }
        giveToOwner(ofFolderOf: path, descriptor)
        return descriptor
    }

    /// Opens a file to read it.
    package static func openForReading(_ path: String) throws -> Int32 {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw FileFault(errno, "open") }
        return descriptor
    }

    /// Reads bytes from an offset on; fewer than asked for only at the end of the file.
    package static func read(_ descriptor: Int32, at offset: UInt64, count: Int) throws -> [UInt8] {
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

    /// Takes a lock file, made if it is not there; nil if somebody else holds it.
    package static func lock(_ path: String) throws -> Int32? {
        let descriptor = unsafe open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw FileFault(errno, "open") }
        giveToOwner(ofFolderOf: path, descriptor)
        if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { return descriptor }
        let reason = errno
        close(descriptor)
        guard reason == EWOULDBLOCK else { throw FileFault(reason, "flock") }
        return nil
    }

    /// How often, and how far apart, a lock is asked for before somebody else counts as holding it: a
    /// process that is just ending, or a child between fork and exec, holds it for moments.
    private static let lockAttempts = 50
    private static let lockPauseMicroseconds: UInt32 = 10_000

    /// Asks for a lock for a while; nil if somebody else goes on holding it.
    package static func whenFree<Lock>(_ attempt: () throws -> Lock?) rethrows -> Lock? {
        for _ in 0..<lockAttempts {
            if let lock = try attempt() { return lock }
            usleep(lockPauseMicroseconds)
        }
        return nil
    }

    /// Locks a data file that exists, whole, for an open file description; nil if somebody else holds
    /// it.
    ///
    /// Closing other descriptors of the file gives nothing up, and no program that is started has it.
    /// Linux' own locks reach other machines over NFS too; elsewhere `flock` does as much on one.
    package static func lockData(_ path: String, isShared: Bool) throws -> Int32? {
        let descriptor = unsafe open(path, (isShared ? O_RDONLY : O_RDWR) | O_CLOEXEC)
        guard descriptor >= 0 else { throw FileFault(errno, "open") }
        #if os(Linux)
        var range = flock()
        range.l_type = Int16(isShared ? F_RDLCK : F_WRLCK)
        range.l_whence = Int16(SEEK_SET)
        let locked = unsafe fcntl(descriptor, setDescriptionLock, &range)
        #else
        let locked = flock(descriptor, (isShared ? LOCK_SH : LOCK_EX) | LOCK_NB)
        #endif
        if locked == 0 { return descriptor }
        let reason = errno
        close(descriptor)
        guard reason == EWOULDBLOCK || reason == EACCES else { throw FileFault(reason, "lock") }
        return nil
    }

    /// `F_OFD_SETLK` (fcntl(2)), which glibc shows to GNU sources only.
    private static let setDescriptionLock: Int32 = 37

    /// Reads a whole file; nil if there is none.
    ///
    /// - Throws: `FileFault` where the system does not tell whether there is one, `CocoaError` for one
    ///   that cannot be read.
    package static func read(_ path: String) throws -> [UInt8]? {
        guard try status(path, followsLinks: true) != nil else { return nil }
        return Array(try Data(contentsOf: URL(filePath: path)))
    }
}

extension DurableFile {
    /// Bytes that are copied at once.
    private static let pieceByteCount = 1 << 20

    /// Copies a file, readable by the owner only.
    ///
    /// Of a link to a file, the file. What else there is, a pipe say, has nothing to be copied.
    package static func copy(_ path: String, to new: String) throws {
        guard try byteCount(path) != nil else { return }
        let file = try openForReading(path)
        defer { close(file) }
        let output = try FileOutput(new)
        var offset: UInt64 = 0
        while true {
            let piece = try read(file, at: offset, count: pieceByteCount)
            if piece.isEmpty { break }
            try output.write(piece)
            offset += UInt64(piece.count)
        }
        try output.close()
    }

    /// Makes a folder for its owner only, with those above it; one that stands is taken.
    ///
    /// `isDurable`: whether the names of those that are made are on the disk when it returns.
    package static func makeFolder(_ path: String, isDurable: Bool = false) throws {
        let missing = sequence(first: path, next: folder(of:)).prefix { !$0.isEmpty && !exists($0) }
        try FileManager.default.createDirectory(
            atPath: path,
            withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700]
        )
        guard isDurable else { return }
        for folder in missing { try syncName(ofDirectory: folder) }
    }

    /// The folder that something is in, by its path; nil: the path does not say.
    private static func folder(of path: String) -> String? {
        path.lastIndex(of: "/").map { String(path[..<$0]) }
    }

    /// Leaves a folder to its owner alone.
    ///
    /// - Throws: `FileFault`.
    package static func closeFolder(_ path: String) throws {
        guard unsafe chmod(path, 0o700) == 0 else { throw FileFault(errno, "chmod") }
    }

    /// What stands in a folder; nothing where there is none.
    ///
    /// - Throws: `FileFault` for what is no folder, `CocoaError` for one that cannot be read.
    package static func names(in folder: String) throws -> [String] {
        guard let status = try status(folder, followsLinks: true) else { return [] }
        guard status.kind == .directory else { throw FileFault(ENOTDIR, "opendir") }
        return try FileManager.default.contentsOfDirectory(atPath: folder)
    }
}

/// Which file it is, whatever it is called.
package struct FileIdentity: Sendable, Equatable {
    private let device: UInt64
    private let inode: UInt64

    private init(_ status: stat) {
        device = UInt64(truncatingIfNeeded: status.st_dev)
        inode = UInt64(truncatingIfNeeded: status.st_ino)
    }

    /// The identity of what stands at a path; nil for nothing.
    package init?(at path: String) {
        var status = stat()
        guard unsafe stat(path, &status) == 0 else { return nil }
        self.init(status)
    }

    /// The identity of an open file; nil for a descriptor of nothing.
    package init?(of descriptor: Int32) {
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else { return nil }
        self.init(status)
    }
}

/// A file call that failed.
public struct FileFault: Error, Sendable {
    /// `errno`.
    public var code: Int32
    /// The call.
    public var operation: String

    /// Whether the disk takes nothing more.
    package var isFullDisk: Bool { [ENOSPC, EDQUOT].contains(code) }

    package init(_ code: Int32, _ operation: String) {
        self.code = code
        self.operation = operation
    }
}
