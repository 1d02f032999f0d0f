/// Bytes being put together, integers little-endian; what ``ByteCursor`` reads.
@usableFromInline
package struct ByteWriter: Sendable {
    /// What has been written so far.
    @usableFromInline package var bytes: [UInt8]

    /// Starts empty, with room for a number of bytes.
    package init(reservingCapacity capacity: Int = 0) {
        bytes = []
        bytes.reserveCapacity(capacity)
    }

    /// Appends one byte.
    @inlinable
    package mutating func append(_ value: UInt8) {
        bytes.append(value)
    }

    /// Appends two bytes, little-endian.
    @inlinable
    package mutating func append(_ value: UInt16) {
        bytes.append(littleEndian: value)
    }

    /// Appends four bytes, little-endian.
    @inlinable
    package mutating func append(_ value: UInt32) {
        bytes.append(littleEndian: value)
    }

    /// Appends eight bytes, little-endian.
    @inlinable
    package mutating func append(_ value: UInt64) {
        bytes.append(littleEndian: value)
    }

    /// Appends eight bytes, little-endian, two's complement.
    @inlinable
    package mutating func append(_ value: Int64) {
        bytes.append(littleEndian: value)
    }

    /// Appends a copy of some bytes, without their length.
    @inlinable
    package mutating func append(_ lent: Span<UInt8>) {
        bytes.append(copying: lent)
    }

    /// Appends the 32 bytes of a digest.
    package mutating func append(_ digest: Digest) {
        digest.append(to: &bytes)
    }

    /// Appends text: its length in bytes as an unsigned 16-bit integer, then UTF-8.
    ///
    /// - Precondition: `text` has at most 65 535 bytes of UTF-8.
    package mutating func append(_ text: String) {
        let utf8 = text.utf8Span.span
        precondition(utf8.count <= Int(UInt16.max), "text has at most 65 535 bytes")
        append(UInt16(utf8.count))
        bytes.append(copying: utf8)
    }

    /// Puts an integer in the place of the bytes at an offset.
    mutating func replace(at offset: Int, _ number: some FixedWidthInteger) {
        bytes.replace(at: offset, number)
    }
}
