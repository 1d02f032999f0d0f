import Testing

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Replaces the content of a file.
func write(_ bytes: [UInt8], to path: String) throws {
    let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
    try #require(descriptor >= 0)
    defer { close(descriptor) }
    let written = unsafe bytes.withUnsafeBytes { bytes in
        unsafe write(descriptor, bytes.baseAddress, bytes.count)
    }
    try #require(written == bytes.count)
}

/// Inverts one byte of a file.
func flip(_ path: String, at offset: Int) throws {
    let descriptor = unsafe open(path, O_RDWR)
    try #require(descriptor >= 0)
    defer { close(descriptor) }
    var byte: UInt8 = 0
    try #require(unsafe pread(descriptor, &byte, 1, off_t(offset)) == 1)
    byte = ~byte
    try #require(unsafe pwrite(descriptor, &byte, 1, off_t(offset)) == 1)
}

/// The length of a file, in bytes.
func size(of path: String) throws -> Int {
    var status = stat()
    try #require(unsafe stat(path, &status) == 0)
    return Int(status.st_size)
}

/// `#expect(found == expected)` where the macro cannot capture a transaction, which is not copyable.
func expectEqual<Value: Equatable>(
    _ found: Value,
    _ expected: Value,
    sourceLocation: SourceLocation = #_sourceLocation
) {
    #expect(found == expected, sourceLocation: sourceLocation)
}
