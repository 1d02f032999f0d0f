/// CRC-32C (Castagnoli), the checksum that ends each record.
///
/// Reflected polynomial 0x82F63B78, initial value and final xor all ones, as in RFC 3720, appendix
/// B.4. It finds damage, not tampering; the tree does that.
public enum CRC32C {
    /// The checksum of some bytes; 0 for none.
    ///
    /// Slicing by eight: eight table look-ups for each eight bytes, O(n), no allocation.
    ///
    /// `earlier`: the checksum of what stands before these bytes, which are then joined to it.
    public static func checksum(_ bytes: Span<UInt8>, after earlier: UInt32 = 0) -> UInt32 {
        let tables = slicingTables.span
        var crc = ~earlier
        var position = 0
        while bytes.count - position >= 8 {
            let word = bytes.uint64(at: position) ^ UInt64(crc)
            crc =
                tables[7 << 8 | Int(truncatingIfNeeded: word & 0xFF)]
                ^ tables[6 << 8 | Int(truncatingIfNeeded: word >> 8 & 0xFF)]
                ^ tables[5 << 8 | Int(truncatingIfNeeded: word >> 16 & 0xFF)]
                ^ tables[4 << 8 | Int(truncatingIfNeeded: word >> 24 & 0xFF)]
                ^ tables[3 << 8 | Int(truncatingIfNeeded: word >> 32 & 0xFF)]
                ^ tables[2 << 8 | Int(truncatingIfNeeded: word >> 40 & 0xFF)]
                ^ tables[1 << 8 | Int(truncatingIfNeeded: word >> 48 & 0xFF)]
                ^ tables[Int(truncatingIfNeeded: word >> 56)]
            position += 8
        }
        while position < bytes.count {
            crc = crc >> 8 ^ tables[Int((crc ^ UInt32(bytes[position])) & 0xFF)]
            position += 1
        }
        return ~crc
    }

    /// Eight tables of 256, one after the other: table k advances a byte over k further zero bytes.
    private static let slicingTables: [UInt32] = {
        var tables = [UInt32](repeating: 0, count: 8 * 256)
        for byte in 0..<256 {
            var crc = UInt32(byte)
            for _ in 0..<8 { crc = crc & 1 == 1 ? crc >> 1 ^ 0x82F6_3B78 : crc >> 1 }
            tables[byte] = crc
        }
        for index in 256..<tables.count {
            let before = tables[index - 256]
            tables[index] = before >> 8 ^ tables[Int(before & 0xFF)]
        }
        return tables
    }()
}
