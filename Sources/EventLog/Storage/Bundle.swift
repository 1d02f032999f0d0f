// Fits throughout: counts and offsets have at most 32 bits, sums of them far less than 64.

/// Records of one tlog-tiles entry bundle: each with its length (u16, big-endian) before it,
/// followed by a trailer of offsets so that a record is found without walking (C2SP tlog-tiles,
/// "Log Entries"; the trailer is cut when a bundle is served).
///
/// Tail values, which hold the records of commits that did not fill a bundle, have the same form.
@usableFromInline
package struct Bundle: Sendable {
    /// Records of a full bundle.
    @inlinable package static var recordCount: UInt64 { 256 }

    /// The trailer's magic, `ELB1`, stands last.
    static let magic: UInt32 = 0x3142_4C45

    /// Packs records.
    package static func pack(_ records: some Collection<[UInt8]>) -> [UInt8] {
        RecordList(records).packed(0..<records.count)
    }

    /// How many records a value holds.
    ///
    /// - Throws: `DecodingFault` if the trailer is not one.
    package static func count(_ value: Span<UInt8>) throws(DecodingFault) -> Int {
        guard value.count >= 8, value.uint32(at: value.count - 4) == magic else {
            throw DecodingFault(what: "not a bundle of this version", offset: value.count)
        }
        let count = Int(value.uint32(at: value.count - 8))
        guard count <= Int(recordCount), value.count >= 8 + 6 * count else {
            throw DecodingFault(what: "bundle lengths differ", offset: value.count - 8)
        }
        return count
    }

    /// Where a record's bytes stand in a value.
    package static func range(
        of index: Int,
        count: Int,
        in value: Span<UInt8>
    ) throws(DecodingFault) -> Range<Int> {
        let trailer = value.count - 8 - 4 * count
        let start = Int(value.uint32(at: trailer + 4 * index))
        guard start + 2 <= trailer else {
            throw DecodingFault(what: "bundle offset is outside", offset: trailer + 4 * index)
        }
        let length = Int(value[start]) << 8 | Int(value[start + 1])
        guard start + 2 + length <= trailer else {
            throw DecodingFault(what: "bundle record is outside", offset: start)
        }
        return start + 2..<start + 2 + length
    }

    /// The bytes as tlog-tiles publishes them: without the trailer.
    package static func published(_ value: Span<UInt8>) throws(DecodingFault) -> Range<Int> {
        0..<value.count - 8 - 4 * (try count(value))
    }
}
