/// Little-endian integers at any offset, assembled byte by byte.
///
/// One bounds check each; the compiler joins the bytes into one load. No alignment is required.
/// Always inlined: as the optimizer counts the bytes it takes them for too large.
extension Span where Element == UInt8 {
    /// The unsigned 16-bit integer that starts at an offset.
    ///
    /// - Precondition: `offset` and the byte after it lie inside the span.
    @inlinable @inline(__always)
    package func uint16(at offset: Int) -> UInt16 {
        precondition(offset >= 0 && offset <= count - 2, "two bytes lie inside the span")
        return UInt16(self[offset]) | UInt16(self[offset + 1]) << 8
    }

    /// The unsigned 32-bit integer that starts at an offset.
    ///
    /// - Precondition: `offset` and the three bytes after it lie inside the span.
    @inlinable @inline(__always)
    package func uint32(at offset: Int) -> UInt32 {
        precondition(offset >= 0 && offset <= count - 4, "four bytes lie inside the span")
        return UInt32(self[offset])
            | UInt32(self[offset + 1]) << 8
            | UInt32(self[offset + 2]) << 16
            | UInt32(self[offset + 3]) << 24
    }

    /// The unsigned 64-bit integer that starts at an offset.
    ///
    /// - Precondition: `offset` and the seven bytes after it lie inside the span.
    @inlinable @inline(__always)
    package func uint64(at offset: Int) -> UInt64 {
        precondition(offset >= 0 && offset <= count - 8, "eight bytes lie inside the span")
        let low =
            UInt64(self[offset])
            | UInt64(self[offset + 1]) << 8
            | UInt64(self[offset + 2]) << 16
            | UInt64(self[offset + 3]) << 24
        let high =
            UInt64(self[offset + 4])
            | UInt64(self[offset + 5]) << 8
            | UInt64(self[offset + 6]) << 16
            | UInt64(self[offset + 7]) << 24
        return low | high << 32
    }

    /// The signed 64-bit integer that starts at an offset, two's complement.
    ///
    /// - Precondition: `offset` and the seven bytes after it lie inside the span.
    @inlinable @inline(__always)
    package func int64(at offset: Int) -> Int64 {
        Int64(bitPattern: uint64(at: offset))
    }
}
