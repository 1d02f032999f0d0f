// Unsafe: bytes of the inline storage, lent for one call; a key is no longer than that storage.
//
// Keys of a table, held inline so that a lookup allocates nothing.

/// A key of 1 to 64 bytes; LMDB orders keys as unsigned bytes, a prefix first.
///
/// It is held inline: making, copying and comparing one allocates nothing.
@safe
package struct Key: Sendable {
    /// The longest key, in bytes.
    package static let maximumCount = 64

    typealias Storage = (UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64)

    /// The bytes in order; those from `count` on are zero.
    private var storage: Storage = (0, 0, 0, 0, 0, 0, 0, 0)

    /// The number of bytes.
    package let count: Int

    /// A key of 8 bytes, big-endian: the order of keys is the order of numbers.
    package init(_ number: UInt64) {
        storage.0 = number.bigEndian
        count = 8
    }

    /// A key of 16 bytes, both big-endian: ordered by the first number, then by the second.
    package init(_ first: UInt64, _ second: UInt64) {
        storage.0 = first.bigEndian
        storage.1 = second.bigEndian
        count = 16
    }

    /// A key of these bytes.
    ///
    /// - Precondition: `bytes` has at most ``maximumCount`` bytes. An empty key exists but LMDB
    ///   refuses it (`MDB_BAD_VALSIZE`).
    package init(_ bytes: Span<UInt8>) {
        precondition(bytes.count <= Key.maximumCount, "a key has at most 64 bytes")
        count = bytes.count
        unsafe withUnsafeMutableBytes(of: &storage) { target in
            unsafe bytes.withUnsafeBytes { source in
                unsafe target.copyMemory(from: source)
            }
        }
    }

    /// The byte at `position`, counted from 0.
    ///
    /// - Precondition: `position` is in `0..<count`.
    package subscript(position: Int) -> UInt8 {
        precondition(position >= 0 && position < count, "a byte of the key")
        return unsafe withUnsafeBytes(of: storage) { unsafe $0[position] }
    }

    /// Lends the bytes to `body`.
    func withBytes<Result, Failure>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try unsafe withUnsafeBytes(of: storage) { (whole) throws(Failure) in
            try unsafe body(UnsafeRawBufferPointer(rebasing: whole[..<count]))
        }
    }
}

extension Key: Equatable {
    /// Whether both hold the same bytes.
    package static func == (one: Key, other: Key) -> Bool {
        one.count == other.count
            && one.storage.0 == other.storage.0 && one.storage.1 == other.storage.1
            && one.storage.2 == other.storage.2 && one.storage.3 == other.storage.3
            && one.storage.4 == other.storage.4 && one.storage.5 == other.storage.5
            && one.storage.6 == other.storage.6 && one.storage.7 == other.storage.7
    }
}
