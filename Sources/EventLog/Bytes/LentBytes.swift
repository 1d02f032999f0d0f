// Unsafe: pointers to lent spans, to integers, to words of a digest and to an array's own bytes; each
// lives for one call inside one closure and covers exactly what was lent.
//
// An array grows from a collection, which a `Span` is not, and a key lends its bytes as a buffer.

import Crypto
import Glibc

extension Digest {
    /// Appends the 32 bytes.
    package func append(to bytes: inout [UInt8]) {
        unsafe withUnsafeBytes(of: words) { unsafe bytes.append(contentsOf: $0) }
    }
}

extension [UInt8] {
    /// Appends a copy of the bytes lent.
    @inlinable
    mutating func append(copying bytes: Span<UInt8>) {
        unsafe bytes.withUnsafeBufferPointer { unsafe append(contentsOf: $0) }
    }

    /// Appends the bytes of an integer, little-endian.
    @inlinable
    mutating func append(littleEndian number: some FixedWidthInteger) {
        unsafe Swift.withUnsafeBytes(of: number.littleEndian) { unsafe append(contentsOf: $0) }
    }

    /// Puts the bytes of an integer, little-endian, in the place of those at an offset.
    ///
    /// - Precondition: so many bytes stand there.
    mutating func replace(at offset: Int, _ number: some FixedWidthInteger) {
        precondition(
            offset >= 0 && offset <= count - number.bitWidth / 8,
            "what is replaced lies inside the array"
        )
        let number = number.littleEndian
        unsafe withUnsafeMutableBytes { bytes in
            unsafe bytes.storeBytes(of: number, toByteOffset: offset, as: type(of: number))
        }
    }
}

extension [UInt8] {
    /// Appends the bytes of a key.
    mutating func append(copying key: SymmetricKey) {
        unsafe key.withUnsafeBytes { unsafe append(contentsOf: $0) }
    }
}

extension InlineArray where Element == UInt8 {
    /// Combines the first bytes with those of a key, by exclusive or.
    ///
    /// - Precondition: the key is not longer than the array.
    mutating func combine(with key: SymmetricKey) {
        unsafe key.withUnsafeBytes { bytes in
            precondition(bytes.count <= count, "a key fits into a block")
            for index in bytes.indices { self[index] ^= unsafe bytes[index] }
        }
    }
}

extension Span<UInt8> {
    /// The bytes of a range, copied.
    package func copy(_ range: Range<Int>) -> [UInt8] {
        unsafe extracting(range).withUnsafeBufferPointer { unsafe [UInt8]($0) }
    }

    /// All bytes, copied.
    package func copy() -> [UInt8] { copy(0..<count) }
}

extension [UInt8] {
    /// Bytes of the system's cryptographically secure generator, drawn in one call.
    init(randomCount count: Int) {
        self = unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            guard let start = buffer.baseAddress else { return }
            unsafe arc4random_buf(start, count)
            filled = count
        }
    }
}
