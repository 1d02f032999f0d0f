// A file seen as memory, shared with every process that maps it.

internal import Synchronization

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// A mapped file of a fixed length, unmapped when nobody holds it.
///
/// All access is by atomic words, so that two processes never race in the sense of the language.
/// The file must not be shortened while it is mapped (`SIGBUS`): replace it by another file.
///
/// Unchecked: the address and the length never change, the bytes are reached atomically.
@safe
final class MappedFile: @unchecked Sendable {
    private let start: UnsafeMutableRawPointer
    /// The length, in bytes.
    let count: Int
    let isWritable: Bool

    private init(
        descriptor: Int32,
        count: Int,
        isWritable: Bool
    ) throws(MappedTableError) {
        let protection = isWritable ? PROT_READ | PROT_WRITE : PROT_READ
        let mapped = unsafe mmap(nil, count, protection, MAP_SHARED, descriptor, 0)
        guard let mapped = unsafe mapped, unsafe mapped != MAP_FAILED else {
            throw .system(operation: "mmap", code: errno)
        }
        unsafe start = unsafe mapped
        self.count = count
        self.isWritable = isWritable
    }

    deinit {
        let unmapped = unsafe munmap(start, count)
        assert(unmapped == 0, "what was mapped can be unmapped")
    }

    /// Makes a file of zeros in place of one that exists; who maps the old one keeps it.
    ///
    /// Its space is reserved on the disk: a full disk is an error here, not a `SIGBUS` later.
    static func create(path: String, count: Int) throws(MappedTableError) -> MappedFile {
        guard unsafe unlink(path) == 0 || errno == ENOENT else {
            throw .system(operation: "unlink", code: errno)
        }
        let descriptor = openFile(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC)
        guard descriptor >= 0 else { throw .system(operation: "open", code: errno) }
        defer { _ = close(descriptor) }
        #if canImport(Darwin)
        let code = ftruncate(descriptor, off_t(count)) == 0 ? 0 : errno
        #else
        let code = posix_fallocate(descriptor, 0, off_t(count))
        #endif
        guard code == 0 else { throw .system(operation: "posix_fallocate", code: code) }
        return try MappedFile(descriptor: descriptor, count: count, isWritable: true)
    }

    /// Maps a file; `nil` if there is none, or it is shorter than `minimumCount` bytes.
    static func open(
        path: String,
        isWritable: Bool,
        minimumCount: Int
    ) throws(MappedTableError) -> MappedFile? {
        let descriptor = openFile(path, (isWritable ? O_RDWR : O_RDONLY) | O_CLOEXEC)
        guard descriptor >= 0 else {
            if errno == ENOENT { return nil }
            throw .system(operation: "open", code: errno)
        }
        defer { _ = close(descriptor) }
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else {
            throw .system(operation: "fstat", code: errno)
        }
        guard status.st_size >= minimumCount else { return nil }
        return try MappedFile(
            descriptor: descriptor,
            count: Int(status.st_size),
            isWritable: isWritable
        )
    }

    /// Waits until the first `count` bytes, or all, are on the disk.
    func synchronize(first count: Int? = nil) throws(MappedTableError) {
        guard unsafe msync(start, count ?? self.count, MS_SYNC) == 0 else {
            throw .system(operation: "msync", code: errno)
        }
    }

    /// The word at byte `offset`, a multiple of 8.
    @inline(__always)
    func load(_ offset: Int) -> UInt64 {
        unsafe cell(offset, of: UInt64.self).pointee.load(ordering: .relaxed)
    }

    @inline(__always)
    func store(_ word: UInt64, _ offset: Int) {
        unsafe cell(offset, of: UInt64.self).pointee.store(word, ordering: .relaxed)
    }

    /// The half word at byte `offset`, a multiple of 4; later loads stay later.
    @inline(__always)
    func loadAcquiring(_ offset: Int) -> UInt32 {
        unsafe cell(offset, of: UInt32.self).pointee.load(ordering: .acquiring)
    }

    @inline(__always)
    func loadHalf(_ offset: Int) -> UInt32 {
        unsafe cell(offset, of: UInt32.self).pointee.load(ordering: .relaxed)
    }

    @inline(__always)
    func storeHalf(_ half: UInt32, _ offset: Int) {
        unsafe cell(offset, of: UInt32.self).pointee.store(half, ordering: .relaxed)
    }

    /// Stores a half word; earlier stores stay earlier.
    @inline(__always)
    func storeReleasing(_ half: UInt32, _ offset: Int) {
        unsafe cell(offset, of: UInt32.self).pointee.store(half, ordering: .releasing)
    }

    /// An atomic of the Swift library is laid out as its value, lock-free at these sizes.
    @inline(__always)
    private func cell<Value: AtomicRepresentable>(
        _ offset: Int,
        of: Value.Type
    ) -> UnsafeMutablePointer<Atomic<Value>> {
        precondition(
            offset >= 0 && offset <= count - MemoryLayout<Value>.size,
            "a word of the file"
        )
        return unsafe (start + offset).assumingMemoryBound(to: Atomic<Value>.self)
    }
}

/// `open(2)`, whose name a static function hides; a file that it makes is its owner's only.
private func openFile(_ path: String, _ flags: Int32) -> Int32 {
    unsafe open(path, flags, 0o600)
}
