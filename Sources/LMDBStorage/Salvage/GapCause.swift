import EventLog

/// Tells from the bytes around a missing record what became of it.
struct GapCause {
    let log: DamagedLog
    /// Where the bundle's value stands, where a meta page leads to it.
    let value: DatabasePage.Place?
    /// Where the intact records of the bundle stand in that value, by their place.
    let offsets: [Int: DatabasePage.Place]

    /// Bytes that are looked at for one gap.
    private static let lookLimit = 1 << 16
    /// So many zeros are no record's.
    private static let zeroCount = 64
    private static let magic: [UInt8] = Array("ELR1".utf8)

    /// What became of the record at a place, and the pages where it stood.
    func cause(
        of place: Int,
        sequence: UInt64
    ) throws -> (cause: LostRecord.Cause, pages: ClosedRange<UInt64>?) {
        guard let value else {
            return (log.isCut ? .truncated : .missing, nil)
        }
        let before = offsets.filter { $0.key < place }.max { $0.key < $1.key }?.value.end
        let after = offsets.filter { $0.key > place }.min { $0.key < $1.key }?.value.offset
        let hole = (before ?? value.offset)..<max(before ?? value.offset, after ?? value.end)
        let pageSize = UInt64(log.pageSize)
        let last = max(hole.upperBound, 1) - 1
        let pages = hole.lowerBound / pageSize...max(hole.lowerBound, last) / pageSize
        if log.bytes.byteCount < value.end, after == nil { return (.truncated, pages) }
        let count = min(hole.count, Self.lookLimit)
        let bytes = try log.bytes.read(at: hole.lowerBound, count: count)
        return (cause(in: bytes.span, sequence), pages)
    }

    private func cause(in bytes: Span<UInt8>, _ sequence: UInt64) -> LostRecord.Cause {
        var zeros = 0
        for place in 0..<bytes.count {
            zeros = bytes[place] == 0 ? zeros + 1 : 0
            if zeros == Self.zeroCount { return .zeroed }
        }
        var start = 0
        while let found = bytes.nextMagic(from: start) {
            if found + 16 <= bytes.count, bytes[found + 2] == Self.magic[2],
                bytes.uint64(at: found + 8) == sequence
            {
                return .checksum
            }
            start = found + 1
        }
        return .overwritten
    }
}
