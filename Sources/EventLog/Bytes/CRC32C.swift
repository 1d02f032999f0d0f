// Unsafe: ISA-L takes a pointer, which lives for one call and covers exactly the span lent.

internal import CISAL

/// CRC-32C (Castagnoli), the checksum that ends each record.
///
/// Reflected polynomial 0x82F63B78, initial value and final xor all ones, as in RFC 3720, appendix
/// B.4. It finds damage, not tampering; the tree does that.
package enum CRC32C {
    /// The checksum of some bytes; 0 for none.
    ///
    /// O(n), no allocation; by the processor's own instructions where it has them.
    ///
    /// `earlier`: the checksum of what stands before these bytes, which are then joined to it.
    package static func checksum(_ bytes: Span<UInt8>, after earlier: UInt32 = 0) -> UInt32 {
        unsafe bytes.withUnsafeBufferPointer { buffer in
            guard let start = buffer.baseAddress else { return earlier }
            // It reads only, and counts in 31 bits.
            let bytes = unsafe UnsafeMutablePointer(mutating: start)
            var crc = ~earlier
            for position in stride(from: 0, to: buffer.count, by: partLimit) {
                let count = min(buffer.count - position, partLimit)
                crc = unsafe crc32_iscsi(bytes + position, Int32(count), crc)
            }
            return ~crc
        }
    }

    private static let partLimit = 1 << 30
}
