import EventLog
import Salvage

/// Tells from the bytes around a missing record what became of it.
struct GapCause {
    let log: DamagedLog
    /// Where the bundle's value stands, where a meta page leads to it.
    let value: DatabasePage.Place?

    /// Bytes that are looked at for one gap.
    private static let lookLimit = 1 << 16
    /// So many zeros are no record's.
    private static let zeroCount = 64
    private static let magic: [UInt8] = Array("ELR1".utf8)

    /// What became of a record, and the pages where it stood.
    ///
    /// `found`: where the bundle's intact records stand, by their sequences.
    func trace(
        of sequence: UInt64,
        among found: [UInt64: Range<UInt64>]
    ) throws -> GapTrace {
        guard let value else {
            return GapTrace(log.isCut ? .truncated : .missing, pages: nil)
        }
        let near = found.filter { _, bytes in
            bytes.lowerBound >= value.offset && bytes.lowerBound < value.end
        }
        let before = near.filter { $0.key < sequence }.max { $0.key < $1.key }?.value.upperBound
        let after = near.filter { $0.key > sequence }.min { $0.key < $1.key }?.value.lowerBound
        let hole = (before ?? value.offset)..<max(before ?? value.offset, after ?? value.end)
        let pageSize = UInt64(log.pageSize)
        let last = max(hole.upperBound, 1) - 1
        let pages = hole.lowerBound / pageSize...max(hole.lowerBound, last) / pageSize
        if log.bytes.byteCount < value.end, after == nil {
            return GapTrace(.truncated, pages: pages)
        }
        let count = min(hole.count, Self.lookLimit)
        let bytes = try log.bytes.read(at: hole.lowerBound, count: count)
        return GapTrace(cause(in: bytes.span, sequence), pages: pages)
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
