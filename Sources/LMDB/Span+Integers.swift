// Unsafe: integers are loaded and stored at any offset by calls that check their bounds; they are
// called unsafe because some types have invalid bit patterns. An unsigned integer has none.
//
// The one reader and the one writer of integers in lent bytes.

extension Span where Element == UInt8 {
    /// The eight bytes from `offset` as a big-endian number, as in a ``Key``.
    ///
    /// - Precondition: The bytes lie inside the span.
    @inlinable
    package func loadUInt64BigEndian(at offset: Int) -> UInt64 {
        unsafe UInt64(bigEndian: bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self))
    }

    /// The eight bytes from `offset` as a little-endian number.
    ///
    /// - Precondition: The bytes lie inside the span.
    @inlinable
    package func loadUInt64(at offset: Int) -> UInt64 {
        unsafe UInt64(
            littleEndian: bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self)
        )
    }

    /// The four bytes from `offset` as a little-endian number.
    ///
    /// - Precondition: The bytes lie inside the span.
    @inlinable
    package func loadUInt32(at offset: Int) -> UInt32 {
        unsafe UInt32(
            littleEndian: bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt32.self)
        )
    }

    /// The two bytes from `offset` as a little-endian number.
    ///
    /// - Precondition: The bytes lie inside the span.
    @inlinable
    package func loadUInt16(at offset: Int) -> UInt16 {
        unsafe UInt16(
            littleEndian: bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt16.self)
        )
    }
}

extension MutableSpan where Element == UInt8 {
    /// Writes `number` as eight big-endian bytes from `offset`.
    ///
    /// - Precondition: The bytes lie inside the span.
    @inlinable
    package mutating func storeUInt64BigEndian(_ number: UInt64, at offset: Int) {
        var raw = unsafe mutableBytes
        raw.storeBytes(of: number.bigEndian, toByteOffset: offset, as: UInt64.self)
    }

    /// Writes `number` as eight little-endian bytes from `offset`.
    ///
    /// - Precondition: The bytes lie inside the span.
    @inlinable
    package mutating func storeUInt64(_ number: UInt64, at offset: Int) {
        var raw = unsafe mutableBytes
        raw.storeBytes(of: number.littleEndian, toByteOffset: offset, as: UInt64.self)
    }

    /// Writes `number` as four little-endian bytes from `offset`.
    ///
    /// - Precondition: The bytes lie inside the span.
    @inlinable
    package mutating func storeUInt32(_ number: UInt32, at offset: Int) {
        var raw = unsafe mutableBytes
        raw.storeBytes(of: number.littleEndian, toByteOffset: offset, as: UInt32.self)
    }

    /// Writes `number` as two little-endian bytes from `offset`.
    ///
    /// - Precondition: The bytes lie inside the span.
    @inlinable
    package mutating func storeUInt16(_ number: UInt16, at offset: Int) {
        var raw = unsafe mutableBytes
        raw.storeBytes(of: number.littleEndian, toByteOffset: offset, as: UInt16.self)
    }
}
