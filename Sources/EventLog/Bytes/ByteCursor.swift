/// A place in some bytes, moved on by each read; for bytes whose length nobody has checked yet.
///
/// The bytes are handed to each call, because a stored span would make the cursor non-escapable.
/// A read that fails leaves the position where it was. Reads are inlined always: each is a few
/// instructions of loops over whole logs, and a call costs more.
@usableFromInline
package struct ByteCursor: Sendable {
    /// Where the next read starts: bytes from the start of the span, never negative.
    @usableFromInline package var position: Int

    /// Starts at a position, the beginning by default.
    ///
    /// - Precondition: `position` is not negative.
    @inlinable
    package init(position: Int = 0) {
        precondition(position >= 0, "a position is not negative")
        self.position = position
    }

    /// Reads one byte.
    ///
    /// - Throws: ``DecodingFault`` where the bytes end too early.
    @inlinable @inline(__always)
    package mutating func uint8(_ bytes: Span<UInt8>) throws(DecodingFault) -> UInt8 {
        bytes[try take(1, of: bytes)]
    }

    /// Reads a little-endian unsigned 16-bit integer.
    ///
    /// - Throws: ``DecodingFault`` where the bytes end too early.
    @inlinable @inline(__always)
    package mutating func uint16(_ bytes: Span<UInt8>) throws(DecodingFault) -> UInt16 {
        bytes.uint16(at: try take(2, of: bytes))
    }

    /// Reads a little-endian unsigned 32-bit integer.
    ///
    /// - Throws: ``DecodingFault`` where the bytes end too early.
    @inlinable @inline(__always)
    package mutating func uint32(_ bytes: Span<UInt8>) throws(DecodingFault) -> UInt32 {
        bytes.uint32(at: try take(4, of: bytes))
    }

    /// Reads a little-endian unsigned 64-bit integer.
    ///
    /// - Throws: ``DecodingFault`` where the bytes end too early.
    @inlinable @inline(__always)
    package mutating func uint64(_ bytes: Span<UInt8>) throws(DecodingFault) -> UInt64 {
        bytes.uint64(at: try take(8, of: bytes))
    }

    /// Reads a little-endian signed 64-bit integer.
    ///
    /// - Throws: ``DecodingFault`` where the bytes end too early.
    @inlinable @inline(__always)
    package mutating func int64(_ bytes: Span<UInt8>) throws(DecodingFault) -> Int64 {
        bytes.int64(at: try take(8, of: bytes))
    }

    /// Passes over some bytes and says where they lie; `bytes.extracting(range)` lends them.
    ///
    /// - Throws: ``DecodingFault`` where fewer are left, or where `count` is negative.
    @inlinable @inline(__always)
    package mutating func bytes(
        _ bytes: Span<UInt8>,
        count: Int
    ) throws(DecodingFault) -> Range<Int> {
        let start = try take(count, of: bytes)
        return start..<position
    }

    /// Reads text: its length in bytes as an unsigned 16-bit integer, then UTF-8.
    ///
    /// - Throws: ``DecodingFault`` where the bytes end too early or are not UTF-8.
    package mutating func string(_ bytes: Span<UInt8>) throws(DecodingFault) -> String {
        let start = position
        do {
            let count = Int(try uint16(bytes))
            let range = try self.bytes(bytes, count: count)
            return try text(bytes.extracting(range), at: range.lowerBound)
        } catch {
            position = start
            throw error
        }
    }

    /// Whether every byte has been read.
    package func isAtEnd(of bytes: Span<UInt8>) -> Bool {
        position == bytes.count
    }

    /// Ends a decoding: whatever is left over is a fault.
    ///
    /// - Throws: ``DecodingFault`` where bytes are left.
    package func finish(_ bytes: Span<UInt8>) throws(DecodingFault) {
        guard isAtEnd(of: bytes) else {
            throw DecodingFault(what: "bytes are left over", offset: position)
        }
    }

    @inlinable @inline(__always)
    mutating func take(_ count: Int, of bytes: Span<UInt8>) throws(DecodingFault) -> Int {
        guard count >= 0, position <= bytes.count, count <= bytes.count - position else {
            throw tooShort(for: count)
        }
        defer { position += count }
        return position
    }

    /// Apart, so that the way without a fault is short enough to be inlined.
    @usableFromInline
    func tooShort(for count: Int) -> DecodingFault {
        DecodingFault(what: "\(count) bytes do not follow", offset: position)
    }

    private func text(_ bytes: Span<UInt8>, at offset: Int) throws(DecodingFault) -> String {
        do {
            return String(copying: try UTF8Span(validating: bytes))
        } catch {
            throw DecodingFault(what: "text is not UTF-8", offset: offset)
        }
    }
}
